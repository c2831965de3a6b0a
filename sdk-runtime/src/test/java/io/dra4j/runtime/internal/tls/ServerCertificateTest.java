// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import io.dra4j.testkit.cluster.TestKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server's certificate in files that are replaced as the kubelet replaces those of a secret. */
class ServerCertificateTest {

    private static TestKeys first;
    private static TestKeys second;
    private static TestKeys rsa;
    private static TestKeys edwards;

    @TempDir
    Path secret;

    @BeforeAll
    static void makeKeys(@TempDir Path folder) throws Exception {
        first = TestKeys.ofServer(folder, "first", "EC");
        second = TestKeys.ofServer(folder, "second", "EC");
        rsa = TestKeys.ofServer(folder, "rsa", "RSA");
        edwards = TestKeys.ofServer(folder, "edwards", "Ed25519");
    }

    @BeforeEach
    void mount() throws Exception {
        Files.createSymbolicLink(secret.resolve("tls.crt"), Path.of("..data/tls.crt"));
        Files.createSymbolicLink(secret.resolve("tls.key"), Path.of("..data/tls.key"));
        replace(first.certificatePem(), first.keyPem());
    }

    /** Replaces both files at once: a new directory, and a link to it that is renamed. */
    private void replace(String certificate, String key) throws IOException {
        Path directory = Files.createTempDirectory(secret, "..");
        Files.writeString(directory.resolve("tls.crt"), certificate);
        Files.writeString(directory.resolve("tls.key"), key);
        Path link = secret.resolve("..data_tmp");
        Files.createSymbolicLink(link, directory.getFileName());
        Files.move(link, secret.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    }

    private ServerCertificate read() {
        return ServerCertificate.read(secret.resolve("tls.crt"), secret.resolve("tls.key"));
    }

    private HttpPages serve() throws IOException {
        return HttpPages.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), read().context())
                .get("/readyz", (accept, body) -> HttpAnswer.text(200, "ok"))
                .start();
    }

    private static SSLContext trusting() throws IOException {
        try {
            return TestKeys.clientOf(first, second, rsa, edwards);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static SSLSocket connect(HttpPages pages, SSLContext client) throws IOException {
        SSLSocket socket = (SSLSocket) client.getSocketFactory()
                .createSocket("127.0.0.1", pages.address().getPort());
        socket.setSoTimeout(10_000);
        socket.startHandshake();
        return socket;
    }

    private static X509Certificate shown(HttpPages pages) throws IOException {
        // no session of an earlier connection, for that would show no certificate
        try (SSLSocket socket = connect(pages, trusting())) {
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    private static String ask(SSLSocket socket) throws IOException {
        socket.getOutputStream().write("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        String line = in.readLine();
        String last = line;
        while (last != null && !last.equals("ok")) {
            last = in.readLine();
        }
        return line;
    }

    @Nested
    class ARenewal {

        @Test
        void isInUseAtOnceAndOpenConnectionsGoOn() throws Exception {
            try (HttpPages pages = serve();
                    SSLSocket before = connect(pages, trusting())) {
                assertThat(ask(before)).isEqualTo("HTTP/1.1 200 OK");
                assertThat(shown(pages)).isEqualTo(first.certificate());

                replace(second.certificatePem(), second.keyPem());

                assertThat(shown(pages)).isEqualTo(second.certificate());
                assertThat(ask(before)).isEqualTo("HTTP/1.1 200 OK");
            }
        }

        @Test
        void mayBringAKeyOfAnotherAlgorithm() throws Exception {
            try (HttpPages pages = serve()) {
                replace(rsa.certificatePem(), rsa.keyPem());
                assertThat(shown(pages)).isEqualTo(rsa.certificate());

                replace(edwards.certificatePem(), edwards.keyPem());
                assertThat(shown(pages)).isEqualTo(edwards.certificate());
            }
        }

        @Test
        void thatCannotBeUsedChangesNothingUntilItCan() throws Exception {
            try (HttpPages pages = serve()) {
                replace(second.certificatePem(), first.keyPem());
                assertThat(shown(pages)).isEqualTo(first.certificate());

                replace("", "");
                assertThat(shown(pages)).isEqualTo(first.certificate());

                Files.delete(secret.resolve("..data"));
                assertThat(shown(pages)).isEqualTo(first.certificate());

                replace(second.certificatePem(), second.keyPem());
                assertThat(shown(pages)).isEqualTo(second.certificate());
            }
        }
    }

    @Nested
    class TheFirstFiles {

        private void assertRefused(String message) {
            assertThatThrownBy(ServerCertificateTest.this::read)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(message);
        }

        @Test
        void mustBeThere() throws IOException {
            Files.delete(secret.resolve("tls.key"));

            assertRefused("Can't read " + secret.resolve("tls.key"));
        }

        static Stream<Arguments> others() throws GeneralSecurityException {
            byte[] bytes = {1, 2, 3};
            String encrypted = "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00FF\n\n";
            return Stream.of(
                    arguments(first, second.keyPem(), "tls.key does not match the first certificate in "),
                    arguments(first, rsa.keyPem(), "Not a private key for a certificate of EC in "),
                    arguments(first, TestKeys.pem("ENCRYPTED PRIVATE KEY", bytes), "is encrypted; decrypt it"),
                    arguments(first, TestKeys.pem("CERTIFICATE", bytes), "No PEM private key in"),
                    arguments(first, TestKeys.pem("RSA PRIVATE KEY", bytes), "Not a private key"),
                    arguments(
                            rsa,
                            TestKeys.pem("RSA PRIVATE KEY", bytes).replaceFirst("-----\n", encrypted),
                            "is encrypted; decrypt it"));
        }

        @ParameterizedTest
        @MethodSource("others")
        void mustHaveAKeyOfTheCertificate(TestKeys keys, String key, String message) throws Exception {
            replace(keys.certificatePem(), key);

            assertRefused(message);
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "nonsense", "-----BEGIN CERTIFICATE-----"})
        void mustHaveACertificate(String text) throws Exception {
            replace(text, first.keyPem());

            assertRefused("PEM certificate");
        }

        @ParameterizedTest
        @ValueSource(strings = {"RSA", "EC"})
        void mayHaveAKeyInTheOlderForm(String algorithm) throws Exception {
            TestKeys keys = algorithm.equals("RSA") ? rsa : first;
            replace(
                    "Bag Attributes\n" + keys.certificatePem() + second.certificatePem(),
                    "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
                            + TestKeys.pem(algorithm + " PRIVATE KEY", older(keys.key())));

            try (HttpPages pages = serve()) {
                assertThat(shown(pages)).isEqualTo(keys.certificate());
            }
        }

        /** Returns what PKCS#8 holds in a string of octets: the sequence within it that ends where the whole ends. */
        private static byte[] older(byte[] pkcs8) {
            ByteBuffer key = ByteBuffer.wrap(pkcs8);
            return IntStream.range(1, pkcs8.length - 4)
                    .filter(i -> pkcs8[i] == 0x30)
                    .filter(i -> key.get(i + 1) == pkcs8.length - i - 2
                            || key.getShort(i + 2) == pkcs8.length - i - 4) // a length in one byte, or in two
                    .mapToObj(i -> Arrays.copyOfRange(pkcs8, i, pkcs8.length))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
