// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.error.DraException;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The client's configuration: a kubeconfig file, or the service account of the pod. */
final class ClientConfig {

    private static final int CONNECT_MILLIS = 5_000;

    /** The timeout of one attempt of a request; a kubelet waits 45 s for a prepare. */
    private static final Duration PLUGIN_LIMIT = Duration.ofSeconds(10);

    private static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    private ClientConfig() {}

    static Config of(@Nullable Path kubeconfig, String driver) {
        return of(
                kubeconfig == null ? inCluster(System.getenv(), SERVICE_ACCOUNT) : fromFile(kubeconfig, PLUGIN_LIMIT),
                driver);
    }

    static Config of(Config config, String driver) {
        config.setUserAgent("dra4j/" + version() + " (" + driver + ")");
        config.setConnectionTimeout(CONNECT_MILLIS);
        return config;
    }

    /**
     * Reads a kubeconfig.
     *
     * @param pluginLimit when a plugin that prints its user's credentials is killed
     */
    static Config fromFile(Path kubeconfig, Duration pluginLimit) {
        if (!Files.isReadable(kubeconfig) || Files.isDirectory(kubeconfig)) {
            throw new DraException("Cannot read the kubeconfig file "
                    + kubeconfig
                    + (Files.exists(kubeconfig) ? ": it is not a readable file" : ": there is no such file")
                    + "; correct the path, or give none to use the pod's service account");
        }
        try {
            // Jackson reads it first: for broken YAML, fabric8 throws exceptions of a library that it uses.
            JsonNode tree = new YAMLMapper().readTree(kubeconfig.toFile());
            io.fabric8.kubernetes.api.model.Config parsed = KubeConfigUtils.parseConfig(kubeconfig.toFile());
            Map<String, ExecConfig> plugins = takePlugins(parsed);
            Config config = Config.empty();
            KubeConfigUtils.merge(config, null, parsed);
            String user = user(config);
            String token = tokenFile(tree, user);
            if (!token.isEmpty()) {
                Path file = kubeconfig.toAbsolutePath().resolveSibling(token);
                config.setOauthTokenProvider(() -> read(file));
            } else if (plugins.containsKey(user) && config.getAutoOAuthToken() == null) {
                new CredentialPlugin(plugins.get(user), kubeconfig).authenticate(config, pluginLimit);
            }
            return config;
        } catch (IOException | KubernetesClientException | IllegalArgumentException e) {
            throw new DraException("The file " + kubeconfig + " is not a valid kubeconfig: " + e.getMessage(), e);
        }
    }

    /** Removes the plugins of users from a kubeconfig, which fabric8 would run without a limit. */
    private static Map<String, ExecConfig> takePlugins(io.fabric8.kubernetes.api.model.Config kubeconfig) {
        Map<String, ExecConfig> plugins = new HashMap<>();
        for (NamedAuthInfo user : kubeconfig.getUsers()) {
            if (user.getUser() != null && user.getUser().getExec() != null) {
                plugins.put(user.getName(), user.getUser().getExec());
                user.getUser().setExec(null);
            }
        }
        return plugins;
    }

    private static String user(Config config) {
        NamedContext current = config.getCurrentContext();
        return current == null ? "" : String.valueOf(current.getContext().getUser());
    }

    /** Returns the file of the user's token, which has precedence over a token and which fabric8 ignores. */
    private static String tokenFile(JsonNode kubeconfig, String name) {
        for (JsonNode user : kubeconfig.path("users")) {
            if (user.path("name").asText().equals(name)) {
                return user.at("/user/tokenFile").asText("");
            }
        }
        return "";
    }

    /** Reads what Kubernetes gives each pod; not fabric8's own search, which tries home folders. */
    static Config inCluster(Map<String, String> environment, Path serviceAccount) {
        String host = environment.get("KUBERNETES_SERVICE_HOST");
        String port = environment.get("KUBERNETES_SERVICE_PORT");
        Path token = serviceAccount.resolve("token");
        if (host == null || port == null || !Files.isReadable(token)) {
            throw new DraException("No kubeconfig is given, and this is not a pod of a cluster"
                    + " (KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and "
                    + token
                    + " are needed); give a kubeconfig file");
        }
        Config config = Config.empty();
        config.setMasterUrl("https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port);
        Path namespace = serviceAccount.resolve("namespace");
        if (Files.isReadable(namespace)) {
            config.setNamespace(read(namespace));
        }
        config.setCaCertFile(serviceAccount.resolve("ca.crt").toString());
        // The kubelet replaces the token before it expires: read it each time.
        config.setOauthTokenProvider(() -> read(token));
        return config;
    }

    private static String read(Path token) {
        try {
            String text = Files.readString(token).strip();
            if (text.isEmpty()) { // half replaced: without a token the server would refuse an unknown user
                throw new IOException("The file " + token + " is empty");
            }
            return text;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String version() {
        try (InputStream properties =
                ClientConfig.class.getResourceAsStream("/META-INF/maven/io.dra4j/dra4j-sdk-runtime/pom.properties")) {
            if (properties == null) {
                return "unpackaged";
            }
            Properties values = new Properties();
            values.load(properties);
            return values.getProperty("version", "unpackaged");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A program that prints the credentials of a kubeconfig's user.
     *
     * <p>It runs here, not in fabric8, which waits for it without a limit, and accepts an answer without credentials.
     *
     * @see <a
     *     href="https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins">
     *     Client-go credential plugins</a>
     */
    private record CredentialPlugin(ExecConfig exec, Path kubeconfig) {

        /**
         * Gives the credentials to a configuration.
         *
         * @param limit when the program is killed, together with its child processes
         * @throws DraException if it prints none by then
         */
        void authenticate(Config config, Duration limit) {
            JsonNode status;
            try {
                status = Json.parse(output(limit)).path("status");
            } catch (IllegalArgumentException e) { // whose message quotes a part of what may be a secret
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

        /** Less than a pipe's capacity: its output is read once it has ended. */
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
                            ? kubeconfig
                                    .toAbsolutePath()
                                    .resolveSibling(program)
                                    .toString()
                            : program);
            if (exec.getArgs() != null) {
                command.addAll(exec.getArgs());
            }
            return command;
        }

        private DraException failure(String reason) {
            return new DraException(
                    "The credential plugin %s of the kubeconfig %s failed: %s; run it by hand to see why"
                            .formatted(exec.getCommand(), kubeconfig, reason));
        }
    }
}
