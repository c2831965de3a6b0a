// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.TestKeys;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.ProcessDriver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AutoClose;
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

    @AutoClose
    private TestNode node;

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
        List<String> command = new ArrayList<>(program());
        command.addAll(arguments());
        Map<String, String> variables = new HashMap<>(environment());
        variables.put("TLS_CERT_FILE", volume.resolve("tls.crt").toString());
        variables.put("TLS_PRIVATE_KEY_FILE", volume.resolve("tls.key").toString());
        variables.put("PORT", "{FREE_PORT}");
        node = new TestNode(
                "webhook", new ProcessDriver(command, variables, TestNode.TIMEOUT), EmbeddedApiServer.builder());
    }

    /** Starts the program with its certificate in a volume, as a pod has it, and returns once it serves. */
    private Instance start(TestKeys keys) throws Exception {
        write("..0", keys);
        for (String name : List.of("tls.crt", "tls.key")) {
            Files.createSymbolicLink(volume.resolve(name), Path.of("..data", name));
        }
        Instance webhook = node.start();
        node.place().awaitLog("Serving admission reviews over HTTPS", webhook, TestNode.TIMEOUT);
        return webhook;
    }

    /** Writes a certificate as the kubelet does: both files atomically, by a link. */
    private void write(String name, TestKeys keys) throws Exception {
        Path files = Files.createDirectories(volume.resolve(name));
        Files.writeString(files.resolve("tls.crt"), keys.certificatePem());
        Files.writeString(files.resolve("tls.key"), keys.keyPem());
        Path link = Files.createSymbolicLink(volume.resolve("..next"), Path.of(name));
        Files.move(link, volume.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Sends a review over a separate connection, which trusts only one certificate. */
    private HttpResponse<String> post(TestKeys trusted, String review) throws Exception {
        URI page = URI.create("https://127.0.0.1:" + node.place().freePort() + CLAIMS);
        HttpRequest request = HttpRequest.newBuilder(page)
                .timeout(TestNode.TIMEOUT)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(review))
                .build();
        return HttpClient.newBuilder()
                .sslContext(TestKeys.clientOf(trusted))
                .build()
                .send(request, BodyHandlers.ofString());
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
        start(keys);

        JsonNode bad = response(post(keys, review(refused())));
        JsonNode good = response(post(keys, review(accepted())));

        assertThat(bad.path("allowed").asBoolean(true)).isFalse();
        assertThat(bad.at("/status/message").asText())
                .isEqualTo("spec.devices.config[0].opaque.parameters: " + message());
        assertThat(good.path("allowed").asBoolean()).as(good.toString()).isTrue();
        assertThat(node.terminate()).isZero();
    }

    /** The JDK's server asks for the name of each client, for seconds where no name server answers. */
    @Test
    void asksNoNameServerForItsClients() throws Exception {
        TestKeys keys = TestKeys.make(folder, "webhook", NAMES);
        String pid = Long.toString(start(keys).pid().getAsLong());

        assertThat(Ended.of(Map.of(), List.of(Ended.jdk("jcmd"), pid, "VM.system_properties"))
                        .printed())
                .contains("jdk.net.hosts.file=/dev/null");
    }

    @Test
    void takesARenewedCertificateWithoutARestart() throws Exception {
        TestKeys before = TestKeys.make(folder, "before", NAMES);
        TestKeys after = TestKeys.make(folder, "after", NAMES);
        start(before);
        assertThat(post(before, review(accepted())).statusCode()).isEqualTo(200);

        write("..1", after);

        assertThat(post(after, review(accepted())).statusCode()).isEqualTo(200);
        assertThatThrownBy(() -> post(before, review(accepted()))).isInstanceOf(SSLHandshakeException.class);
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
}
