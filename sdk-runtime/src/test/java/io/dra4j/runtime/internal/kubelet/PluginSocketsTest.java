// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.kubelet.KubeletPlugin.StaleSockets;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSocketsTest extends SocketFixture {

    private static final Path REGISTRY = Path.of("/var/lib/kubelet/plugins_registry");

    private static PluginSockets sockets(String driver, String uid) {
        return new PluginSockets(
                driver, REGISTRY, Path.of("/var/lib/kubelet/plugins").resolve(driver), uid);
    }

    /** The limits by driver name: 27 and 52 characters for registration, 36 for the service. */
    @ParameterizedTest
    @CsvSource({
        "9,  , %-reg.sock, dra.sock",
        "63, , %-reg.sock, dra.sock",
        "9,  U, %-U-reg.sock, dra-U.sock",
        "27, U, %-U-reg.sock, dra-U.sock",
        "28, U, %-yBLh7bZEF9Y-reg.sock, dra-U.sock",
        "36, U, %-yBLh7bZEF9Y-reg.sock, dra-U.sock",
        "37, U, %-yBLh7bZEF9Y-reg.sock, dra-yBLh7bZEF9Y.sock",
        "52, U, %-yBLh7bZEF9Y-reg.sock, dra-yBLh7bZEF9Y.sock",
        "63, U, dra-[A-Za-z0-9_-]{19}-reg.sock, yBLh7bZEF9Y.sock",
    })
    void areNamedAfterDriverAndPodAndHashedWhereThatWouldBeTooLong(
            int length, @Nullable String pod, String registration, String service) {
        String driver = "d".repeat(length);
        PluginSockets sockets = sockets(driver, pod == null ? null : UID);

        assertThat(sockets.registration().getParent()).isEqualTo(REGISTRY);
        assertThat(sockets.registration().getFileName().toString())
                .matches(registration.replace("%", driver).replace("U", UID));
        assertThat(sockets.service().getFileName()).hasToString(service.replace("U", UID));
        assertThat(sockets.registration().toString().length()).isLessThanOrEqualTo(107);
        assertThat(sockets.service().toString().length()).isLessThanOrEqualTo(107);
    }

    @Test
    void aPathThatIsTooLongInAnyFormIsAnErrorThatSaysHowMuch() {
        Path deep = Path.of("/" + "x".repeat(100));
        PluginSockets sockets = new PluginSockets("gpu.example.com", deep, deep, null);

        assertThatThrownBy(sockets::service)
                .isInstanceOf(DraException.class)
                .hasMessageContaining("has 110 bytes, the kernel allows 107");
    }

    @ParameterizedTest
    @ValueSource(strings = {UID, "one", "a", "uid-1", "0f8fad5bd9cb469fa16570867728950e"})
    void aLaterInstanceKnowsTheNameForTheDriversOwn(String uid) {
        for (int length : new int[] {5, 28, 52, 63}) {
            String driver = "d".repeat(length);
            String name = sockets(driver, uid).registration().getFileName().toString();

            assertThat(sockets(driver, null).isOwnRegistration(name)).as(name).isTrue();
            assertThat(sockets("e" + driver.substring(1), null).isOwnRegistration(name))
                    .as(name)
                    .isFalse();
        }
    }

    /** A driver can be named like another and a UID that is no UUID. */
    @Test
    void aNameCanNotBeThatOfAnotherDriver() {
        assertThat(sockets("gpu.example.com", "one").registration())
                .isNotEqualTo(sockets("gpu.example.com-one", null).registration());
    }

    /** With real sockets: dead ones were bound and closed, as by a process that was killed. */
    @Nested
    class AStaleOne {

        private void removeStale() {
            removeStale(Duration.ZERO);
        }

        private void removeStale(Duration later) {
            new StaleSockets(sockets, () -> Instant.now().plus(later)).remove();
        }

        private static Path dead(Path path) throws IOException {
            live(path).close();
            return path;
        }

        private static ServerSocketChannel live(Path path) throws IOException {
            return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
        }

        private static boolean isThere(Path path) {
            return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "r/gpu.example.com-reg.sock",
                    "r/gpu.example.com-" + UID + "-reg.sock",
                    "r/gpu.example.com-0123456789abcdef0123456789abcdef-reg.sock",
                    "r/gpu.example.com-yBLh7bZEF9Y-reg.sock",
                    "r/gpu.example.com-ybl_7bzef9y-reg.sock",
                    "d/dra.sock",
                    "d/dra-" + UID + ".sock",
                    "d/dra-yBLh7bZEF9Y.sock",
                    "d/yBLh7bZEF9Y.sock",
                })
        void ofThisDriverIsRemovedFromTheRegistryAndItsOwnDirectory(String name) throws IOException {
            Path stale = dead(root.resolve(name));

            removeStale();

            assertThat(isThere(stale)).isFalse();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "gpu.example.com-network-foo-reg.sock",
                    "gpu.example.com.org-reg.sock",
                    "gpu-example.com-reg.sock",
                    "gpu.example.com-" + UID + "-x-reg.sock",
                    "other.example.com-" + UID + "-reg.sock",
                    "dra-yBLh7bZEF9YyBLh7bZEF9Y-reg.sock",
                    "gpu.example.com.sock",
                    ".hidden",
                    ".d012345",
                })
        void ofAnotherDriverStaysInTheRegistry(String name) throws IOException {
            Path foreign = dead(registry.resolve(name));

            removeStale(Duration.ofDays(1));

            assertThat(isThere(foreign)).isTrue();
        }

        @Test
        void thatAProcessListensOnStays() throws IOException {
            Path path = registry.resolve(DRIVER + "-" + UID + "-reg.sock");
            try (ServerSocketChannel sibling = live(path)) {
                assertThat(sibling.isOpen()).isTrue();
                removeStale();
                assertThat(isThere(path)).isTrue();
            }
            removeStale();
            assertThat(isThere(path)).isFalse();
        }

        @Test
        void thatAnotherDriverListensOnIsNotTaken() throws IOException {
            for (Path taken : List.of(sockets.service(), sockets.registration())) {
                try (ServerSocketChannel other = live(taken)) {
                    assertThatThrownBy(() -> KubeletPlugin.start(
                                    sockets, new FakeClaims(), null, Meters.none(), Clock.systemUTC()))
                            .isInstanceOf(DraException.class)
                            .hasMessageContaining("Another driver listens on the socket " + taken + "; stop it first");
                    assertThat(other.isOpen() && isThere(taken)).isTrue();
                }
            }
            KubeletPlugin.start(sockets, new FakeClaims(), null, Meters.none(), Clock.systemUTC())
                    .close();
        }

        /** By a path that is too long for the kernel, as by that of another user. */
        @Test
        void thatCannotBeReachedIsNotCalledAnotherDrivers() throws IOException {
            Path far = Files.createDirectory(root.resolve("x".repeat(107)));
            dead(Files.createSymbolicLink(root.resolve("l"), far).resolve("dra.sock"));

            assertThatThrownBy(() -> new SocketFile(far.resolve("dra.sock"), far.resolve("hidden")))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Can't see whether a driver listens on the socket " + far + "/dra.sock (")
                    .hasMessageEndingWith("; remove the file if none runs");
        }

        /** One that hangs accepts no connection, and lets this many wait. */
        @Test
        void ofAnInstanceThatHangsStaysAndDelaysNoOther() throws IOException {
            Path path = data.resolve("dra-" + UID + ".sock");
            try (ServerSocketChannel sibling =
                    ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path), 1)) {
                assertThat(sibling.isOpen()).isTrue();
                for (int i = 0; i < 5; i++) {
                    removeStale();
                }
                assertThat(isThere(path)).isTrue();
            }
        }

        @Test
        void thatIsNoSocketStays() throws IOException {
            Path file = Files.writeString(registry.resolve(DRIVER + "-" + UID + "-reg.sock"), "x");
            Path link = data.resolve("dra.sock");
            Files.createSymbolicLink(link, dead(root.resolve("s")));

            removeStale(Duration.ofDays(1));

            assertThat(file).hasContent("x");
            assertThat(isThere(link)).isTrue();
            assertThat(isThere(root.resolve("s"))).isTrue();
        }

        @Test
        void thatIsHiddenGoesWhenItIsTooOldToBeOfAnInstanceThatStarts() throws IOException {
            Path inRegistry = dead(sockets.hidden(registry.resolve("x")));
            Path inData = dead(sockets.hidden(data.resolve("x")));
            Path ofOther =
                    dead(new PluginSockets("other.example.com", registry, data, null).hidden(registry.resolve("x")));

            removeStale(Duration.ofSeconds(50));
            assertThat(isThere(inRegistry)).isTrue();
            removeStale(Duration.ofSeconds(70));

            assertThat(isThere(inRegistry)).isFalse();
            assertThat(isThere(inData)).isFalse();
            assertThat(isThere(ofOther)).isTrue();
        }

        @Test
        void needsNoDirectory() throws IOException {
            Files.delete(registry);
            Path stale = dead(data.resolve("dra.sock"));

            removeStale();

            assertThat(isThere(stale)).isFalse();
        }
    }
}
