// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.AdmissionWebhook;
import io.dra4j.testkit.cluster.TestKeys;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/** A webhook for {@link LaneConfigs} on a free port, and clients of it. */
final class WebhookUnderTest implements AutoCloseable {

    static final String CLAIMS = "/validate-resource-claim-parameters";
    static final String PODS = "/validate-pods";

    private static final int EXIT_SECONDS = 30;

    private interface Running {
        void end() throws IOException;
    }

    final SSLContext tls;
    private final int port;
    private final Running running;

    private WebhookUnderTest(SSLContext tls, int port, Running running) {
        this.tls = tls;
        this.port = port;
        this.running = running;
    }

    /** Starts one in this process. */
    static WebhookUnderTest start(Path folder, List<String> extendedResources) throws Exception {
        TestKeys keys = TestKeys.ofServer(folder, "webhook", "EC");
        AdmissionWebhook webhook = AdmissionWebhook.of(
                        LaneConfigs.DRIVER, LaneConfigs.TYPES, certificate(folder, keys), key(folder, keys))
                .port(0)
                .refuseExtendedResources(extendedResources);
        webhook.start();
        return new WebhookUnderTest(TestKeys.clientOf(keys), webhook.address().getPort(), webhook::close);
    }

    /** Starts one as a program, as drivers have it. */
    static WebhookUnderTest startProgram(Path folder, String... jvmOptions) throws Exception {
        TestKeys keys = TestKeys.ofServer(folder, "webhook", "EC");
        JavaProgram program = new JavaProgram(
                folder, List.of(jvmOptions), JavaProgram.ownClassPath(), WebhookUnderTest.class.getName());
        List<String> command = new ArrayList<>(program.command());
        command.add(certificate(folder, keys).toString());
        command.add(key(folder, keys).toString());
        Process process =
                new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        int port = Integer.parseInt(process.inputReader().readLine());
        return new WebhookUnderTest(TestKeys.clientOf(keys), port, () -> end(process));
    }

    /**
     * Runs a webhook as a program, which prints its port and ends with its input.
     *
     * @param arguments the certificate and its key
     */
    public static void main(String[] arguments) throws Exception {
        try (AdmissionWebhook webhook = AdmissionWebhook.of(
                        LaneConfigs.DRIVER, LaneConfigs.TYPES, Path.of(arguments[0]), Path.of(arguments[1]))
                .port(0)) {
            webhook.start();
            System.out.println(webhook.address().getPort());
            while (System.in.read() >= 0) {}
        }
    }

    private static void end(Process process) throws IOException {
        process.getOutputStream().close();
        try {
            assertThat(process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS))
                    .as("has ended")
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static Path certificate(Path folder, TestKeys keys) throws Exception {
        return Files.writeString(folder.resolve("tls.crt"), keys.certificatePem());
    }

    private static Path key(Path folder, TestKeys keys) throws Exception {
        return Files.writeString(folder.resolve("tls.key"), keys.keyPem());
    }

    int port() {
        return port;
    }

    HttpClient client() throws GeneralSecurityException {
        return HttpClient.newBuilder().sslContext(tls).build();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port() + path))
                .timeout(Duration.ofSeconds(30));
    }

    HttpRequest review(String path, String document) {
        return request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(document))
                .build();
    }

    HttpResponse<String> post(String path, String document) throws Exception {
        return send(review(path, document));
    }

    HttpResponse<String> send(HttpRequest request) throws Exception {
        return client().send(request, BodyHandlers.ofString());
    }

    @Override
    public void close() throws IOException {
        running.end();
    }
}
