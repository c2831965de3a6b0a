// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The place of a driver, and ports for it. */
class PlaceTest {

    @Test
    void whatCannotBeRemovedIsReportedAndTheRestIsRemoved() throws Exception {
        Place place = Place.create("node-1", "gpu.example.com");
        Path file = Files.writeString(place.plugins().resolve("file"), "x");
        assumeThat(chattr("+i", file)).as("files can be made immutable here").isTrue();
        try {
            assertThat(place.remove()).get().asString().contains(place.root().toString(), "by hand");
            assertThat(file).exists();
            assertThat(place.cdi()).doesNotExist();
        } finally {
            chattr("-i", file);
            assertThat(place.remove()).isEmpty();
        }
    }

    @Test
    void inAClusterTheServersAddressIsAValueAndTheKubeconfigIsNotInTheEnvironment() {
        Place place = Place.create("node-1", "gpu.example.com");
        Place secure = place.withSecurePort(6443);
        Map<String, String> environment = new HashMap<>();
        secure.enter(environment);
        Map<String, String> ofTheSuitesPod =
                new HashMap<>(Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1", "KUBERNETES_SERVICE_PORT", "443"));
        place.enter(ofTheSuitesPod);

        assertThat(secure.fill("https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}"))
                .isEqualTo("https://127.0.0.1:6443");
        assertThat(environment)
                .containsEntry("KUBERNETES_SERVICE_HOST", "127.0.0.1")
                .containsEntry("KUBERNETES_SERVICE_PORT", "6443")
                .doesNotContainKey("KUBECONFIG");
        assertThat(ofTheSuitesPod)
                .containsKey("KUBECONFIG")
                .doesNotContainKeys("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT");
        assertThat(place.values()).containsKey("KUBECONFIG").doesNotContainKey("KUBERNETES_SERVICE_HOST");
        assertThat(place.remove()).isEmpty();
    }

    private static boolean chattr(String flag, Path file) throws Exception {
        try {
            Process process = new ProcessBuilder("chattr", flag, file.toString()).start();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Nested
    class Ports {

        @Test
        void arePortsThatNoOutgoingConnectionGets() throws IOException {
            int port = UnusedPorts.next();

            assertThat(port).isBetween(10_000, 29_999);
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        }

        @Test
        void skipPortsThatAreInUse() throws IOException {
            int used = UnusedPorts.next() + 1;
            try (ServerSocket socket = new ServerSocket(used, 1, InetAddress.getLoopbackAddress())) {
                assertThat(UnusedPorts.next()).isNotEqualTo(socket.getLocalPort());
            }
        }
    }
}
