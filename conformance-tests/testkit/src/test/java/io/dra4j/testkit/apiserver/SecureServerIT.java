// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.cluster.TestKeys;
import io.dra4j.testkit.proxy.TcpProxy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS as kube-apiserver speaks it: HTTP/2, a CA that is replaced, connections that end. */
@Timeout(60)
class SecureServerIT {
    @TempDir
    private Path folder;

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .tls()
            .bookmarkInterval(Duration.ofMillis(50))
            .start();

    private HttpProbe client(Version version) throws Exception {
        return new HttpProbe(server.tlsUrl(), TestKeys.clientOf(server.authority(), version));
    }

    @Nested
    class Protocols {
        @Test
        void areTheClientsChoice() throws Exception {
            client(Version.HTTP_2).post(SLICES, slice("s1", 1));
            client(Version.HTTP_2).get(SLICES);
            client(Version.HTTP_1_1).get(SLICES);

            assertThat(new HttpProbe(server).get(SLICES + "/s1").status()).isEqualTo(200);
            assertThat(server.protocols()).isEqualTo(Map.of("HTTP/1.1", 2L, "HTTP/2.0", 2L));
        }

        @Test
        void areThoseOfAKubeconfigsClient() throws Exception {
            Path kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"), server.tlsUrl());
            try (KubernetesClient fabric8 = new KubernetesClientBuilder()
                    .withConfig(Config.fromKubeconfig(Files.readString(kubeconfig)))
                    .build()) {
                assertThat(fabric8.namespaces().withName("default").get()).isNotNull();
            }
            assertThat(server.protocols()).containsKey("HTTP/2.0");
        }

        @Test
        void areNotOfAServerThatWasNotToldTo() {
            try (EmbeddedApiServer plain = EmbeddedApiServer.builder().start()) {
                assertThatIllegalStateException().isThrownBy(plain::tlsUrl).withMessageContaining("tls()");
            }
        }
    }

    @Nested
    class Watches {
        @Test
        void endWithTheirTime() throws Exception {
            try (Stream watch = client(Version.HTTP_2).watch(SLICES + "?watch=1&timeoutSeconds=1")) {
                assertThat(watch.next()).isEmpty();
            }
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (server.openWatches() > 0 && System.nanoTime() < end) {
                Thread.onSpinWait(); // a client may see the end before the server has counted it
            }
            assertThat(server.openWatches()).isZero();
        }

        @Test
        void endAlone() throws Exception {
            HttpProbe http = client(Version.HTTP_2);
            try (Stream watch = http.watch(SLICES + "?watch=1")) {
                server.endWatches();

                assertThat(watch.next()).isEmpty();
                assertThat(http.get(SLICES).status()).isEqualTo(200);
            }
        }

        @Test
        void thatNobodyReadsEndAndTheirConnectionGoesOn() throws Exception {
            HttpProbe http = client(Version.HTTP_2);
            try (Stream unread = http.watch("/api/v1/nodes?watch=1");
                    Stream other = http.watch(SLICES + "?watch=1")) {
                String node = "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','annotations':{'a':'%s%s'}}}";
                String large = "x".repeat(50_000);
                for (int i = 0; i < 3_000 && server.openWatches() > 1; i++) {
                    server.store().put(Trees.tree(node.formatted(i, large)));
                }
                assertThat(server.openWatches()).isEqualTo(1);

                http.post(SLICES, slice("s1", 1));
                assertThat(other.shown()).isEqualTo("ADDED s1");
                assertThat(unread.contentType()).isEqualTo("application/json");
            }
        }
    }

    @Nested
    class Authority {
        @Test
        void isReplacedForNewConnectionsAlone() throws Exception {
            HttpClient first = TestKeys.clientOf(server.authority(), Version.HTTP_2);
            HttpProbe connected = new HttpProbe(server.tlsUrl(), first);
            HttpProbe late = client(Version.HTTP_2);
            try (Stream watch = connected.watch(SLICES + "?watch=1")) {
                server.replaceAuthority();

                connected.post(SLICES, slice("s1", 1));
                assertThat(watch.shown()).isEqualTo("ADDED s1");
                assertThatThrownBy(() -> late.get(SLICES)).hasRootCauseInstanceOf(GeneralSecurityException.class);
                assertThat(client(Version.HTTP_2).get(SLICES).status()).isEqualTo(200);

                server.closeConnections();
                assertThatThrownBy(watch::next).isInstanceOf(IOException.class);
            }
            assertThatThrownBy(() -> connected.get(SLICES)).cause().isInstanceOf(SSLHandshakeException.class);
        }

        @Test
        void isInTheFilesOfAServiceAccount() throws Exception {
            Path account = server.writeServiceAccount(folder.resolve("account"));
            Path ca = account.resolve("ca.crt");
            String token = Files.readString(account.resolve("token"));
            Path data = account.resolve("..data").toRealPath();
            assertThat(ca).hasContent(server.authority()).isSymbolicLink();
            assertThat(account.resolve("namespace")).hasContent("default");

            server.replaceAuthority();
            assertThat(Files.readString(ca)).isNotEqualTo(server.authority());
            server.writeServiceAccount(account);

            assertThat(ca).hasContent(server.authority());
            assertThat(Files.readString(account.resolve("token"))).isNotEqualTo(token);
            assertThat(data).doesNotExist();
            assertThat(account.toFile().list()).hasSize(5);
        }
    }

    @Nested
    class RequestsThatTakeTooLong {
        @AutoClose
        private final EmbeddedApiServer impatient = EmbeddedApiServer.builder()
                .tls()
                .requestTimeout(Duration.ofMillis(200))
                .start();

        @Test
        void get504AndTheirConnectionEnds() throws Exception {
            try (Socket socket = new Socket("127.0.0.1", impatient.url().getPort())) {
                String head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{".formatted(SLICES);
                socket.getOutputStream().write(head.getBytes(UTF_8));

                String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);

                assertThat(answer).startsWith("HTTP/1.1 504 ").contains("Connection: close", "Timeout: request did");
            }
        }

        @Test
        void areNotWatches() throws Exception {
            HttpProbe http =
                    new HttpProbe(impatient.tlsUrl(), TestKeys.clientOf(impatient.authority(), Version.HTTP_2));
            long start = System.nanoTime();
            try (Stream watch = http.watch(SLICES + "?watch=1&timeoutSeconds=1")) {
                assertThat(watch.next()).isEmpty();
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(900));
        }
    }

    @Nested
    class Goaway {
        private static final int DATA = 0;
        private static final int GOAWAY = 7;

        @AutoClose
        private final EmbeddedApiServer leaving =
                EmbeddedApiServer.builder().tls().goawayChance(1).start();

        @AutoClose
        private final TcpProxy proxy = TcpProxy.before(leaving.tlsUrl());

        /** By hand: the JDK's client of Java 17 fails the request, though it could get the answer. */
        @Test
        void comesWithTheAnswerToARequestOfHttp2() throws Exception {
            SSLContext trust = TestKeys.clientOf(leaving.authority());
            try (SSLSocket socket = (SSLSocket) trust.getSocketFactory().createSocket("127.0.0.1", proxy.port())) {
                SSLParameters http2 = socket.getSSLParameters();
                http2.setApplicationProtocols(new String[] {"h2"});
                socket.setSSLParameters(http2);
                socket.setSoTimeout(10_000);
                String settings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
                String get = "\202\207\4\10/version\1\11localhost"; // by HPACK's table of usual headers
                String request = settings + "\0\0" + (char) get.length() + "\1\5\0\0\0\1" + get;
                socket.getOutputStream().write(request.getBytes(ISO_8859_1));

                DataInputStream frames = new DataInputStream(socket.getInputStream());
                Map<Integer, String> byType = new HashMap<>();
                while (!byType.keySet().containsAll(Set.of(DATA, GOAWAY))) {
                    int lengthAndType = frames.readInt();
                    frames.skipNBytes(5); // flags and stream
                    String payload = new String(frames.readNBytes(lengthAndType >>> 8), ISO_8859_1);
                    byType.merge(lengthAndType & 0xff, payload, String::concat);
                }

                assertThat(byType.get(DATA)).contains("gitVersion");
            }
        }

        @Test
        void isNothingToHttp11() throws Exception {
            SSLContext trust = TestKeys.clientOf(leaving.authority());
            try (Socket socket = trust.getSocketFactory().createSocket("127.0.0.1", proxy.port())) {
                String request = "GET /version HTTP/1.1\r\nHost: localhost\r\n%s\r\n";
                String both = request.formatted("") + request.formatted("Connection: close\r\n");
                socket.getOutputStream().write(both.getBytes(UTF_8));

                String answers = new String(socket.getInputStream().readAllBytes(), UTF_8);

                assertThat(answers.split("HTTP/1.1 200", -1)).hasSize(3);
            }
        }
    }
}
