// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.cluster.TestKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Forms of a kubeconfig, over real TLS, as kubeconfigs.txt says. */
class KubeconfigIT implements ScenarioSteps {

    private static final ClaimRef REF = new ClaimRef("default", "c1", "uid-1");
    private static final Executor THREADS = ShortLivedThreads.unlimited("requests");

    /** Of the server; one client has the same. */
    private static TestKeys keys;

    /** Of another client. Its key is PKCS#8, which fabric8 does not read of curves. */
    private static TestKeys curve;

    @TempDir
    Path directory;

    private final BlockingQueue<String> users = new LinkedBlockingQueue<>();
    private HttpsServer server;
    private volatile String refused = "";
    private String ofTheCluster = "";
    private Path plugin;

    @AutoClose
    private Cluster cluster;

    @BeforeAll
    static void makeKeys(@TempDir Path folder) throws Exception {
        keys = TestKeys.ofServer(folder, "node-a", "RSA");
        curve = TestKeys.ofServer(folder, "node-b", "EC");
    }

    @BeforeEach
    void serve() throws Exception {
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        SSLContext tls = tls();
        server.setHttpsConfigurator(new HttpsConfigurator(tls) {
            @Override
            public void configure(HttpsParameters parameters) {
                SSLParameters wanted = tls.getDefaultSSLParameters();
                wanted.setWantClientAuth(true);
                parameters.setSSLParameters(wanted);
            }
        });
        server.createContext("/", exchange -> {
            String user = user((HttpsExchange) exchange);
            users.add(user);
            int status = user.equals(refused) ? 401 : 200;
            ScriptedServer.send(exchange, status, "{\"metadata\":{\"uid\":\"uid-1\"},\"status\":{}}");
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static String user(HttpsExchange exchange) {
        String token = exchange.getRequestHeaders().getFirst("Authorization");
        try {
            return exchange.getSSLSession().getPeerPrincipal().getName();
        } catch (SSLPeerUnverifiedException e) {
            return String.valueOf(token);
        }
    }

    private SSLContext tls() throws GeneralSecurityException, IOException {
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys.store(), TestKeys.PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(TestKeys.trusting(keys, curve));
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return tls;
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private Path file(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content);
    }

    /** Connects by a kubeconfig of one cluster and one user, each given by its fields. */
    private Cluster connect(String ofTheCluster, String ofTheUser) throws IOException {
        return connect(ofTheCluster, ofTheUser, Duration.ofSeconds(10));
    }

    private Cluster connect(String ofTheCluster, String ofTheUser, Duration pluginLimit) throws IOException {
        Path kubeconfig = file("kubeconfig", """
                        apiVersion: v1
                        kind: Config
                        clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", %s}}]
                        users: [{name: u, user: {%s}}]
                        contexts: [{name: x, context: {cluster: c, user: u}}]
                        current-context: x
                        """.formatted(server.getAddress().getPort(), ofTheCluster, ofTheUser));
        ApiClient client = new ApiClient(
                kubeconfig, () -> ClientConfig.of(ClientConfig.fromFile(kubeconfig, pluginLimit), "gpu.example.com"));
        return new Cluster(client, "gpu.example.com", "node-a", Meters.none());
    }

    private String ca() throws Exception {
        return "certificate-authority: \"%s\"".formatted(file("ca.crt", keys.certificatePem()));
    }

    private String userOf(Cluster cluster) throws InterruptedException {
        cluster.claimReader().read(REF, Duration.ofSeconds(10));
        return users.take();
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "cluster" -> ofTheCluster = filled(text);
            case "connect" -> cluster = connect(ofTheCluster.isEmpty() ? ca() : ofTheCluster, filled(text));
            case "connect-by-plugin" -> cluster = connect(ca(), exec(plugin));
            case "connect-fails" ->
                assertThatThrownBy(() -> connect(ca(), exec(plugin)))
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(plugin.toString(), text)
                        .hasMessageNotContaining("secret");
            case "file" -> file(words[1], text.isEmpty() ? "" : text + "\n");
            case "certificate" -> file("tls.crt", (words[1].equals("node-a") ? keys : curve).certificatePem());
            case "key" -> file("tls.key", (words[1].equals("node-a") ? keys : curve).keyPem());
            case "odd-certificates" -> {
                String odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
                file("cas.crt", odd + keys.certificatePem() + odd);
            }
            case "plugin" -> plugin = plugin(filled(text));
            case "plugin-runs" -> Files.writeString(plugin = plugin(""), "#!/bin/sh\n" + filled(text));
            case "printed-certificate" -> {
                ObjectNode status = Json.object()
                        .put("clientCertificateData", curve.certificatePem())
                        .put("clientKeyData", curve.keyPem());
                file("printed", "{\"status\":" + status + "}");
            }
            case "refuse" -> refused = text;
            case "user" -> assertThat(userOf(cluster)).isEqualTo(text);
            case "next-user" -> assertThat(users.take()).isEqualTo(text);
            case "read-fails", "read-fails-for-now" -> {
                ClusterException failure = catchThrowableOfType(
                        ClusterException.class, () -> cluster.claimReader().read(REF, Duration.parse("PT" + words[1])));
                assertThat(failure).hasMessageContaining(text);
                assertThat(failure.isTransient() || words[0].equals("read-fails"))
                        .isTrue();
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private String filled(String text) throws GeneralSecurityException {
        return text.replace("{folder}", directory.toString())
                .replace("{certificate}", base64(keys.certificatePem()))
                .replace("{key}", base64(keys.keyPem()));
    }

    @Scenarios("kubeconfigs.txt")
    void aUserIsTheOneOfTheKubeconfig(String scenario) throws Exception {
        play(scenario);
    }

    private Path plugin(String token) throws IOException {
        Path plugin = file("plugin", """
                        #!/bin/sh
                        echo '{"kind":"ExecCredential","status":{"token":"'%s'"},
                          "apiVersion":"client.authentication.k8s.io/v1"}'
                        """.formatted(token));
        return Files.setPosixFilePermissions(plugin, PosixFilePermissions.fromString("rwx------"));
    }

    private static String exec(Path plugin) {
        return """
                exec: {apiVersion: client.authentication.k8s.io/v1, command: "%s", args: [made],
                       interactiveMode: Never, env: [{name: WHO, value: here}]}
                """.formatted(plugin);
    }

    /** It prints "first", and once there is a gate, what comes through it. */
    private Path gatedPlugin() throws IOException {
        Path gate = directory.resolve("gate");
        return plugin(
                "$(echo $$ >> %s; [ -e %s ] && cat %s || echo first)".formatted(directory.resolve("runs"), gate, gate));
    }

    /** Puts a gate before the plugin, which a request runs again because the kubeconfig was touched. */
    private Path makeGate() throws IOException, InterruptedException {
        Path gate = directory.resolve("gate");
        assertThat(new ProcessBuilder("mkfifo", gate.toString()).start().waitFor())
                .isZero();
        Files.setLastModifiedTime(
                directory.resolve("kubeconfig"), FileTime.from(Instant.now().plusSeconds(5)));
        return gate;
    }

    private List<ProcessHandle> runningPlugins() throws IOException {
        return Files.readAllLines(directory.resolve("runs")).stream()
                .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid)).stream())
                .filter(ProcessHandle::isAlive)
                .toList();
    }

    @Test
    @Timeout(60)
    void anExecPluginThatHangsHoldsUpNoOtherRequest() throws Exception {
        try (Cluster cluster = connect(ca(), exec(gatedPlugin()), Duration.ofSeconds(60))) {
            assertThat(userOf(cluster)).isEqualTo("Bearer first");
            Path gate = makeGate();
            CompletableFuture<?> waiting =
                    CompletableFuture.runAsync(() -> cluster.claimReader().read(REF, Duration.ofSeconds(60)), THREADS);

            try (OutputStream open = Files.newOutputStream(gate)) { // which the plugin reads by now
                for (int i = 0; i < 3; i++) {
                    CompletableFuture.runAsync(() -> cluster.claimReader().read(REF, Duration.ofSeconds(10)), THREADS)
                            .get(10, TimeUnit.SECONDS);
                    assertThat(users.take()).isEqualTo("Bearer first");
                }
                assertThat(runningPlugins()).hasSize(1);
                open.write("second\n".getBytes(StandardCharsets.UTF_8));
            }

            waiting.join();
            assertThat(users.take()).isEqualTo("Bearer second");
        }
    }

    @Test
    @Timeout(60)
    void anExecPluginThatDoesNotEndIsKilledAndNotRunForEachRequest() throws Exception {
        try (Cluster cluster = connect(ca(), exec(gatedPlugin()), Duration.ofSeconds(1))) {
            assertThat(userOf(cluster)).isEqualTo("Bearer first");
            makeGate();

            for (int i = 0; i < 5; i++) {
                assertThat(userOf(cluster)).isEqualTo("Bearer first");
            }
            assertThat(runningPlugins()).isEmpty();
            assertThat(Files.readAllLines(directory.resolve("runs"))).hasSize(2);
        }
    }
}
