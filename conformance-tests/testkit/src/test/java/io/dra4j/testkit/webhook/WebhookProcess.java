// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.webhook;

import io.dra4j.testkit.cluster.TestKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A driver's program as a webhook: a process, with its certificate in a volume as a pod has it. */
final class WebhookProcess implements AutoCloseable {

    private static final Pattern SERVING =
            Pattern.compile("Serving admission reviews over HTTPS.*address=\\S*:([0-9]+)");
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String FIRST_FOLDER = "..0";

    private final Process process;
    private final int port;

    private WebhookProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts the program, and returns once it serves.
     *
     * @param environment the variables of its container
     * @param volume an empty folder for the certificate
     */
    static WebhookProcess start(List<String> command, Map<String, String> environment, Path volume, TestKeys keys)
            throws Exception {
        write(volume, FIRST_FOLDER, keys);
        for (String name : List.of("tls.crt", "tls.key")) {
            Files.createSymbolicLink(volume.resolve(name), Path.of("..data", name));
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().put("TLS_CERT_FILE", volume.resolve("tls.crt").toString());
        builder.environment()
                .put("TLS_PRIVATE_KEY_FILE", volume.resolve("tls.key").toString());
        builder.environment().put("PORT", "0");
        Process process = builder.start();
        return new WebhookProcess(process, port(process));
    }

    private static int port(Process process) throws IOException {
        StringBuilder output = new StringBuilder();
        BufferedReader reader = process.inputReader();
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            Matcher serving = SERVING.matcher(line);
            if (serving.find()) {
                drain(reader);
                return Integer.parseInt(serving.group(1));
            }
            output.append(line).append('\n');
        }
        throw new AssertionError("The webhook ended: " + output);
    }

    private static void drain(BufferedReader reader) {
        Thread drain = new Thread(() -> reader.lines().forEach(line -> {}), "webhook-output");
        drain.setDaemon(true);
        drain.start();
    }

    /** Replaces the certificate as the kubelet does: both files at once, by a link. */
    static void replaceCertificate(Path volume, TestKeys keys) throws Exception {
        write(volume, "..1", keys);
    }

    private static void write(Path volume, String folder, TestKeys keys) throws Exception {
        Path files = Files.createDirectories(volume.resolve(folder));
        Files.writeString(files.resolve("tls.crt"), keys.certificatePem());
        Files.writeString(files.resolve("tls.key"), keys.keyPem());
        Path link = Files.createSymbolicLink(volume.resolve("..next"), Path.of(folder));
        Files.move(link, volume.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    }

    long pid() {
        return process.pid();
    }

    /** Sends a review over a connection of its own, which trusts one certificate alone. */
    HttpResponse<String> post(TestKeys trusted, String path, String review) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                .timeout(TIMEOUT)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(review))
                .build();
        return HttpClient.newBuilder()
                .sslContext(TestKeys.clientOf(trusted))
                .build()
                .send(request, BodyHandlers.ofString());
    }

    /** Ends it as the kubelet does, and returns its status. */
    int terminate() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("The webhook does not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
