// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.kubelet.KubeletPlugin.StaleSockets;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSocketsTest extends SocketFixture implements ScenarioSteps {

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

    private final List<ServerSocketChannel> open = new ArrayList<>();

    private final Map<String, Path> hidden = new HashMap<>(); // under random names

    private Path path(String word) {
        String[] parts = word.split(":");
        if (parts.length == 1) {
            return root.resolve(word.replace("UID", UID));
        }
        PluginSockets of = new PluginSockets(parts[0], registry, data, null);
        return hidden.computeIfAbsent(word, any -> of.hidden(root.resolve(parts[1])));
    }

    private static ServerSocketChannel bind(Path path, int backlog) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path), backlog);
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "dead" -> bind(path(words[1]), 0).close();
            case "live" -> open.add(bind(path(words[1]), 0));
            case "hanging" -> open.add(bind(path(words[1]), 1)); // and lets this many wait
            case "ends" -> open.remove(0).close();
            case "file" -> Files.writeString(path(words[1]), "x");
            case "link" -> Files.createSymbolicLink(path(words[1]), path(words[2]));
            case "no-registry" -> Files.delete(registry);
            case "remove-stale" -> {
                Duration later = words.length == 1 ? Duration.ZERO : Duration.parse("PT" + words[1]);
                new StaleSockets(sockets, () -> Instant.now().plus(later)).remove();
            }
            case "there" ->
                assertThat(Files.exists(path(words[1]), LinkOption.NOFOLLOW_LINKS))
                        .isTrue();
            case "gone" ->
                assertThat(Files.exists(path(words[1]), LinkOption.NOFOLLOW_LINKS))
                        .isFalse();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @AfterEach
    void end() throws IOException {
        for (ServerSocketChannel socket : open) {
            socket.close();
        }
    }

    @Scenarios("stale-sockets.txt")
    void socketsThatAProcessLeftAreRemoved(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void aSocketThatAnotherDriverListensOnIsNotTaken() throws IOException {
        for (Path taken : List.of(sockets.service(), sockets.registration())) {
            try (ServerSocketChannel other = bind(taken, 0)) {
                assertThatThrownBy(() ->
                                KubeletPlugin.start(sockets, new FakeClaims(), null, Meters.none(), Clock.systemUTC()))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining("Another driver listens on the socket " + taken + "; stop it first");
                assertThat(other.isOpen() && Files.exists(taken)).isTrue();
            }
        }
        KubeletPlugin.start(sockets, new FakeClaims(), null, Meters.none(), Clock.systemUTC())
                .close();
    }

    /** By a path that is too long for the kernel, as by that of another user. */
    @Test
    void aSocketThatCannotBeReachedIsNotCalledAnotherDrivers() throws IOException {
        Path far = Files.createDirectory(root.resolve("x".repeat(107)));
        bind(Files.createSymbolicLink(root.resolve("l"), far).resolve("dra.sock"), 0)
                .close();

        assertThatThrownBy(() -> new SocketFile(far.resolve("dra.sock"), far.resolve("hidden")))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("Can't see whether a driver listens on the socket " + far + "/dra.sock (")
                .hasMessageEndingWith("; remove the file if none runs");
    }
}
