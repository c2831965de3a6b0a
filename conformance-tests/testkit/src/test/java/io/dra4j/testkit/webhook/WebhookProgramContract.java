// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.cluster.TestKeys;
import io.dra4j.testkit.driver.Ended;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules for the webhook of each driver's program; a test of the driver extends this. */
@Timeout(120)
public abstract class WebhookProgramContract {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CLAIMS = "/validate-resource-claim-parameters";
    private static final String NAMES = "ip:127.0.0.1";

    @TempDir
    private Path folder;

    private Path volume;

    /** The program without arguments. */
    protected abstract List<String> program();

    /** The arguments of its container. */
    protected abstract List<String> arguments();

    /** The variables of its container. */
    protected abstract Map<String, String> environment();

    /** A configuration that the driver can prepare. */
    protected abstract String accepted();

    /** A configuration that the driver can't prepare. */
    protected abstract String refused();

    /** The answer of prepare to that. */
    protected abstract String message();

    @BeforeEach
    void makeVolume() throws Exception {
        volume = Files.createDirectory(folder.resolve("certificate"));
    }

    private WebhookProcess start(TestKeys keys) throws Exception {
        List<String> command = new ArrayList<>(program());
        command.addAll(arguments());
        return WebhookProcess.start(command, environment(), volume, keys);
    }

    private String review(String parameters) throws Exception {
        String document = """
                {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
                  "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": "CREATE",
                  "kind": {"group": "resource.k8s.io", "version": "v1", "kind": "ResourceClaim"},
                  "namespace": "team", "name": "one", "object": {
                    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                    "metadata": {"namespace": "team", "name": "one"},
                    "spec": {"devices": {
                      "requests": [{"name": "device", "exactly": {"deviceClassName": "any"}}],
                      "config": [{"opaque": {"driver": "%s", "parameters": %s}}]}}}}}
                """.formatted(environment().get("DRIVER_NAME"), parameters);
        return JSON.readTree(document).toString();
    }

    private static JsonNode response(HttpResponse<String> answer) throws Exception {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body()).path("response");
    }

    @Test
    void refusesWhatPrepareWouldRefuse() throws Exception {
        TestKeys keys = TestKeys.make(folder, "webhook", NAMES);
        try (WebhookProcess webhook = start(keys)) {
            JsonNode bad = response(webhook.post(keys, CLAIMS, review(refused())));
            JsonNode good = response(webhook.post(keys, CLAIMS, review(accepted())));

            assertThat(bad.path("allowed").asBoolean(true)).isFalse();
            assertThat(bad.at("/status/message").asText())
                    .isEqualTo("spec.devices.config[0].opaque.parameters: " + message());
            assertThat(good.path("allowed").asBoolean()).as(good.toString()).isTrue();
            assertThat(webhook.terminate()).isZero();
        }
    }

    /** The JDK's server asks for the name of each client, for seconds where no name server answers. */
    @Test
    void asksNoNameServerForItsClients() throws Exception {
        TestKeys keys = TestKeys.make(folder, "webhook", NAMES);
        try (WebhookProcess webhook = start(keys)) {
            List<String> command = List.of(Ended.jdk("jcmd"), Long.toString(webhook.pid()), "VM.system_properties");

            assertThat(Ended.of(Map.of(), command).printed()).contains("jdk.net.hosts.file=/dev/null");
        }
    }

    @Test
    void takesARenewedCertificateWithoutARestart() throws Exception {
        TestKeys before = TestKeys.make(folder, "before", NAMES);
        TestKeys after = TestKeys.make(folder, "after", NAMES);
        try (WebhookProcess webhook = start(before)) {
            assertThat(webhook.post(before, CLAIMS, review(accepted())).statusCode())
                    .isEqualTo(200);

            WebhookProcess.replaceCertificate(volume, after);

            assertThat(webhook.post(after, CLAIMS, review(accepted())).statusCode())
                    .isEqualTo(200);
            assertThatThrownBy(() -> webhook.post(before, CLAIMS, review(accepted())))
                    .isInstanceOf(SSLHandshakeException.class);
        }
    }

    private void assertEnds(int status, String line, String... options) throws Exception {
        List<String> command = new ArrayList<>(program());
        command.add("webhook");
        Ended ended = Ended.of(Map.of(), command, options);

        assertThat(ended.output()).contains(line).doesNotContain("\tat ");
        assertThat(ended.status()).isEqualTo(status);
    }

    @Test
    void endsWithALineWhereOptionsAreMissingOrWrong() throws Exception {
        Path missing = volume.resolve("none.crt");
        String certificate = "--tls-cert-file=" + missing;
        String key = "--tls-private-key-file=" + volume.resolve("none.key");

        assertEnds(2, "Missing required option: '--tls-cert-file", key);
        assertEnds(2, "Invalid value for option '--port'", certificate, key, "--port=70000");
        assertEnds(1, "Can't read " + missing, certificate, key, "--port=0");
    }

    /** A driver's program as a webhook: a process, with its certificate in a volume as a pod has it. */
    private static final class WebhookProcess implements AutoCloseable {

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

        /** Replaces the certificate as the kubelet does: both files atomically, by a link. */
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

        /** Sends a review over a separate connection, which trusts only one certificate. */
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
}
