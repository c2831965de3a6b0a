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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With real sockets: dead ones were bound and closed, as by a process that was killed. */
class StaleSocketsTest extends SocketFixture {

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
                "gpu.example.com-reg.sock",
                "gpu.example.com-" + UID + "-reg.sock",
                "gpu.example.com-0123456789abcdef0123456789abcdef-reg.sock",
                "gpu.example.com-yBLh7bZEF9Y-reg.sock",
                "gpu.example.com-ybl_7bzef9y-reg.sock",
            })
    void ofThisDriverAreRemovedFromTheRegistry(String name) throws IOException {
        Path stale = dead(registry.resolve(name));

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
    void ofOthersStayInTheRegistry(String name) throws IOException {
        Path foreign = dead(registry.resolve(name));

        removeStale(Duration.ofDays(1));

        assertThat(isThere(foreign)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dra.sock", "dra-" + UID + ".sock", "dra-yBLh7bZEF9Y.sock", "yBLh7bZEF9Y.sock"})
    void ofServicesAreRemovedFromTheDriversOwnDirectory(String name) throws IOException {
        Path stale = dead(data.resolve(name));

        removeStale();

        assertThat(isThere(stale)).isFalse();
    }

    @Test
    void thatAProcessListensOnStay() throws IOException {
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
    void thatAnotherDriverListensOnAreNotTaken() throws IOException {
        for (Path taken : List.of(sockets.service(), sockets.registration())) {
            try (ServerSocketChannel other = live(taken)) {
                assertThatThrownBy(() ->
                                KubeletPlugin.start(sockets, new FakeClaims(), null, Meters.none(), Clock.systemUTC()))
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
    void thatCannotBeReachedAreNotCalledAnotherDrivers() throws IOException {
        Path far = Files.createDirectory(root.resolve("x".repeat(107)));
        dead(Files.createSymbolicLink(root.resolve("l"), far).resolve("dra.sock"));

        assertThatThrownBy(() -> new SocketFile(far.resolve("dra.sock"), far.resolve("hidden")))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("Can't see whether a driver listens on the socket " + far + "/dra.sock (")
                .hasMessageEndingWith("; remove the file if none runs");
    }

    /** One that hangs accepts no connection, and lets so many wait. */
    @Test
    void ofAnInstanceThatHangsStayAndDelayNoOther() throws IOException {
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
    void thatAreNoSocketsStay() throws IOException {
        Path file = Files.writeString(registry.resolve(DRIVER + "-" + UID + "-reg.sock"), "x");
        Path link = data.resolve("dra.sock");
        Files.createSymbolicLink(link, dead(root.resolve("s")));

        removeStale(Duration.ofDays(1));

        assertThat(file).hasContent("x");
        assertThat(isThere(link)).isTrue();
        assertThat(isThere(root.resolve("s"))).isTrue();
    }

    @Test
    void thatAreHiddenGoWhenTheyAreTooOldToBeOfAnInstanceThatStarts() throws IOException {
        Path inRegistry = dead(sockets.hidden(registry.resolve("x")));
        Path inData = dead(sockets.hidden(data.resolve("x")));
        Path ofOther = dead(new PluginSockets("other.example.com", registry, data, null).hidden(registry.resolve("x")));

        removeStale(Duration.ofSeconds(50));
        assertThat(isThere(inRegistry)).isTrue();
        removeStale(Duration.ofSeconds(70));

        assertThat(isThere(inRegistry)).isFalse();
        assertThat(isThere(inData)).isFalse();
        assertThat(isThere(ofOther)).isTrue();
    }

    @Test
    void needNoDirectory() throws IOException {
        Files.delete(registry);
        Path stale = dead(data.resolve("dra.sock"));

        removeStale();

        assertThat(isThere(stale)).isFalse();
    }
}
