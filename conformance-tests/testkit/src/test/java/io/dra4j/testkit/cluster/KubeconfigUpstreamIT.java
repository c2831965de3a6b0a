// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.UnusedPorts;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Upstream;
import io.dra4j.testkit.proxy.UpstreamException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** The proxy in front of an API server that requires TLS, a client certificate and a token. */
@Tag("gate")
@Timeout(60)
class KubeconfigUpstreamIT {

    private static final String TOKEN = "s3cret-t0ken";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @TempDir
    private static Path keys;

    private static TestKeys serverKeys;
    private static TestKeys namedKeys;
    private static TestKeys clientKeys;
    private static EmbeddedApiServer api;
    private static TlsFront front;

    @TempDir
    private Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @AutoClose
    private ApiProxy proxy;

    @BeforeAll
    static void start() throws Exception {
        serverKeys = TestKeys.make(keys, "server", "ip:127.0.0.1");
        namedKeys = TestKeys.make(keys, "named", "dns:api.example.com");
        clientKeys = TestKeys.make(keys, "client", "");
        api = EmbeddedApiServer.builder().node("node-1").start();
        front = new TlsFront(api.url(), serverKeys, clientKeys, TOKEN);
    }

    @AfterAll
    static void stop() {
        front.close();
        api.close();
    }

    private static String cluster(String... lines) {
        return String.join("\n    ", lines);
    }

    private static String user() throws Exception {
        return clientKeys.client() + "\n    token: " + TOKEN;
    }

    private Path kubeconfig(String cluster, String user) throws IOException {
        return Files.writeString(folder.resolve("kubeconfig"), TlsFront.kubeconfig(cluster, user));
    }

    private Path usual() throws Exception {
        return kubeconfig(trusted(front.url()), user());
    }

    private static String trusted(String url) throws Exception {
        return cluster("server: " + url, serverKeys.authority());
    }

    private void proxyBefore(Path kubeconfig) {
        proxy = ApiProxy.before(KubeconfigUpstream.read(kubeconfig, ""));
        assertThat(proxy.serverVersion(TIMEOUT)).startsWith("v1.");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(proxy.url() + path)).timeout(TIMEOUT);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(request(path).build(), BodyHandlers.ofString());
    }

    @Nested
    class Goes {

        @Test
        void withCertificateAndTokenThatTheDriverDoesNotKnowAndNotWithItsOwn() throws Exception {
            Upstream upstream = KubeconfigUpstream.read(usual(), "one");
            proxy = ApiProxy.before(upstream);

            assertThat(proxy.serverVersion(TIMEOUT)).startsWith("v1.");
            int before = front.authorizations().size();
            HttpRequest.Builder request = request("/api/v1/nodes/node-1");
            request.header("Authorization", "Bearer of-another-cluster");
            HttpResponse<String> node = client.send(request.build(), BodyHandlers.ofString());

            assertThat(front.authorizations().subList(before, before + 1)).containsExactly("Bearer " + TOKEN);
            assertThat(node.statusCode()).isEqualTo(200);
            assertThat(node.body()).contains("\"name\":\"node-1\"");
            Path forDriver = proxy.writeKubeconfig(folder.resolve("for-driver"));
            assertThat(proxy.requests()).extracting(RecordedRequest::path).containsExactly("/api/v1/nodes/node-1");
            assertThat(proxy.requests() + proxy.log() + upstream + Files.readString(forDriver))
                    .doesNotContain(TOKEN, "of-another-cluster");
        }

        @Test
        void withWatchesEventByEvent() throws Exception {
            proxyBefore(usual());
            HttpRequest request = request("/api/v1/nodes?watch=true").build();
            try (Stream<String> watch =
                    client.send(request, BodyHandlers.ofLines()).body()) {
                Iterator<String> lines = watch.iterator();
                assertThat(lines.next()).contains("ADDED", "node-1");

                ObjectNode node =
                        (ObjectNode) api.store().find("nodes", "", "node-1").orElseThrow();
                node.withObject("/metadata/annotations").put("seen", "yes");
                api.store().put(node);

                assertThat(lines.next()).contains("MODIFIED", "\"seen\":\"yes\"");
            }
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        server: {FRONT}, certificate-authority: ca.crt  | {CLIENT}, tokenFile: token
                        server: {FRONT}, {CA}                           | {CLIENT}, exec: {apiVersion: client.authentication.k8s.io/v1,command: ./plugin}
                        server: {FRONT}, insecure-skip-tls-verify: true | {USER}
                        """)
        void withWhatLiesBesideTheKubeconfigAndWithoutCheckIfConfigured(String cluster, String user) throws Exception {
            Files.writeString(folder.resolve("ca.crt"), serverKeys.certificatePem());
            Files.writeString(folder.resolve("token"), TOKEN + "\n");
            Path plugin = Files.writeString(folder.resolve("plugin"), """
                            #!/bin/sh
                            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}'
                            """.formatted(TOKEN));
            assertThat(plugin.toFile().setExecutable(true)).isTrue();

            proxyBefore(kubeconfig(filled(cluster), filled(user)));

            Upstream renewed = KubeconfigUpstream.read(folder.resolve("kubeconfig"), "", Duration.ZERO);
            for (String token : new String[] {"next", ""}) { // the last one is not used
                Files.writeString(folder.resolve("token"), token);
                Files.writeString(plugin, Files.readString(plugin).replaceFirst("(token\":\")[^\"]*", "$1" + token));
                assertThat(renewed.headers().get())
                        .containsEntry("Authorization", "Bearer " + (user.equals("{USER}") ? TOKEN : "next"));
            }
        }

        @Test
        void belowAPath() throws Exception {
            proxyBefore(kubeconfig(trusted(front.urlWithPath()), user()));
            assertThat(get("/api/v1/nodes?limit=1").statusCode()).isEqualTo(200);
            assertThat(proxy.requests()).extracting(RecordedRequest::path).containsExactly("/api/v1/nodes");
        }

        @Test
        void toAServerOfAnotherNameThanTheUrls() throws Exception {
            try (TlsFront named = new TlsFront(api.url(), namedKeys, clientKeys, TOKEN)) {
                String[] lines = {"server: " + named.url(), namedKeys.authority()};

                assertThat(refusal(cluster(lines), user()))
                        .contains("its certificate is for another name", "tls-server-name");
                String name = "tls-server-name: api.example.com";
                proxyBefore(kubeconfig(cluster(lines[0], lines[1], name), user()));
            }
        }
    }

    private String filled(String lines) throws Exception {
        return lines.replace(", ", "\n    ")
                .replace("{FRONT}", front.url())
                .replace("{API}", api.url().toString())
                .replace("{CA}", serverKeys.authority())
                .replace("{NAMED_CA}", namedKeys.authority())
                .replace("{USER}", user())
                .replace("{CLIENT}", clientKeys.client())
                .replace("{NAMED_CLIENT}", namedKeys.client())
                .replace("{TOKEN}", TOKEN);
    }

    private String refusal(String cluster, String user) throws IOException {
        return failure(kubeconfig(cluster, user), "");
    }

    /** Returns the message for a kubeconfig that cannot be used. */
    private String failure(Path kubeconfig, String context) {
        String message = "";
        try (ApiProxy before = ApiProxy.before(KubeconfigUpstream.read(kubeconfig, context))) {
            before.serverVersion(TIMEOUT);
        } catch (UpstreamException e) {
            message = e.getMessage();
        }
        assertThat(message)
                .contains(kubeconfig.toString())
                .doesNotContain("\n", TOKEN, "Exception")
                .hasSizeLessThan(400);
        return message;
    }

    @Nested
    class IsRefusedInOneLine {

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/cluster/when-the-cluster-or-the-user-is-of-no-use.csv",
                delimiter = '|',
                quoteCharacter = '\'')
        void whenTheClusterOrTheUserIsOfNoUse(String cluster, String user, String words) throws Exception {
            assertThat(refusal(filled(cluster), filled(user))).contains(words);
        }

        @Test
        void whenNoServerListens() throws Exception {
            assertThat(refusal("server: https://127.0.0.1:" + UnusedPorts.next(), user()))
                    .contains("cannot be reached: connection refused");
        }

        @Test
        void whenTheFileCannotBeReadOrIsSomethingElse() throws Exception {
            assertThat(failure(folder.resolve("none"), "")).startsWith("No such kubeconfig:");
            assertThat(failure(folder, "")).contains("cannot be read");
            for (String text : new String[] {"", "hello", "a: [", "kind: Pod", "[1, 2]"}) {
                Path file = Files.writeString(folder.resolve("other"), text);

                assertThat(failure(file, "")).as(text).contains("is not a kubeconfig");
            }
        }

        @Test
        void whenItNamesWhatIsNotThere() throws Exception {
            assertThat(failure(usual(), "two")).contains("no context \"two\"", "one, nowhere, nobody");
            assertThat(failure(usual(), "nowhere")).contains("cluster \"lost\"", "\"nowhere\"");
            assertThat(failure(usual(), "nobody")).contains("user \"lost\"", "\"nobody\"");
            String text = Files.readString(usual()).replace("current-context: one\n", "");
            Path noCurrent = Files.writeString(folder.resolve("kubeconfig"), text);
            assertThat(failure(noCurrent, "")).contains("no current-context");
        }
    }
}
