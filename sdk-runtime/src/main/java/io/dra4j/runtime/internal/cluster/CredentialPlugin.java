// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.error.DraException;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program that prints the credentials of a kubeconfig's user.
 *
 * <p>It runs here, and not in fabric8, which waits for it without a limit, and accepts an answer without credentials.
 *
 * @see <a href="https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins">
 *     Client-go credential plugins</a>
 */
record CredentialPlugin(ExecConfig exec, Path kubeconfig) {

    /**
     * Gives the credentials to a configuration.
     *
     * @param limit when the program is killed, with what it has started
     * @throws DraException if it prints none until then
     */
    void authenticate(Config config, Duration limit) {
        JsonNode status;
        try {
            status = Json.parse(output(limit)).path("status");
        } catch (IllegalArgumentException e) { // with a part of what may be a secret
            throw failure("its output is not JSON");
        } catch (IOException e) {
            throw failure(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while it ran");
        }
        String token = status.path("token").asText("");
        String certificate = status.path("clientCertificateData").asText("");
        String key = status.path("clientKeyData").asText("");
        if (token.isEmpty() && (certificate.isEmpty() || key.isEmpty())) {
            throw failure("it printed neither a token nor a certificate with its key");
        }
        if (!token.isEmpty()) {
            config.setAutoOAuthToken(token);
        }
        if (!certificate.isEmpty() && !key.isEmpty()) {
            config.setClientCertData(certificate);
            config.setClientKeyData(key);
        }
    }

    /** Less than a pipe holds: what it prints is read once it has ended. */
    private String output(Duration limit) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.INHERIT);
        if (exec.getEnv() != null) {
            exec.getEnv().forEach(variable -> builder.environment().put(variable.getName(), variable.getValue()));
        }
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("it did not end within " + TransientRetry.seconds(limit));
            }
            if (process.exitValue() != 0) {
                throw new IOException("it ended with status " + process.exitValue());
            }
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private List<String> command() {
        String program = exec.getCommand();
        List<String> command = new ArrayList<>();
        command.add(
                program.contains("/")
                        ? kubeconfig.toAbsolutePath().resolveSibling(program).toString()
                        : program);
        if (exec.getArgs() != null) {
            command.addAll(exec.getArgs());
        }
        return command;
    }

    private DraException failure(String reason) {
        return new DraException("The credential plugin %s of the kubeconfig %s failed: %s; run it by hand to see why"
                .formatted(exec.getCommand(), kubeconfig, reason));
    }
}
