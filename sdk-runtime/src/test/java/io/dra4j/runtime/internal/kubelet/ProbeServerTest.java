// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.kubelet.GrpcProbe;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real sockets of both kinds. */
class ProbeServerTest extends SocketFixture {

    private final AtomicInteger prepares = new AtomicInteger();
    private final FakeClaims claims = new FakeClaims();
    private volatile boolean needsRestart;

    @AutoClose
    private KubeletPlugin plugin;

    @AutoClose
    private ProbeServer probes;

    @AutoClose
    private GrpcProbe probe;

    @BeforeEach
    void start() {
        plugin = KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
        plugin.publish();
        probes = ProbeServer.start(sockets, 0, () -> needsRestart);
        probe = GrpcProbe.at(probes.port());
        claims.before = prepares::incrementAndGet;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "liveness"})
    void eachCheckCallsTheDriverAndSeesThatItNeedsARestartOrFails(String service) {
        assertThat(probe.check(service)).isEqualTo("SERVING");
        assertThat(probe.check(service)).isEqualTo("SERVING");
        assertThat(prepares).hasValue(2);
        assertThat(claims.requested).isEmpty();

        needsRestart = true;
        assertThat(probe.check(service)).isEqualTo("NOT_SERVING");

        needsRestart = false;
        claims.before = () -> {
            throw new IllegalStateException("broken");
        };
        assertThat(probe.check(service)).isEqualTo("NOT_SERVING");

        claims.before = () -> {};
        assertThat(probe.check(service)).isEqualTo("SERVING");
    }

    @Test
    void aServiceOfAnotherNameIsNotFound() {
        assertThatThrownBy(() -> probe.check("readiness"))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageStartingWith("NOT_FOUND");
        assertThat(prepares).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"r/gpu.example.com-reg.sock", "d/dra.sock"})
    void aSocketThatIsGoneIsNotServing(String socket) throws IOException {
        Path path = root.resolve(socket);
        Path aside = root.resolve("aside");
        Files.move(path, aside);
        assertThat(probe.check("")).isEqualTo("NOT_SERVING");

        Files.move(aside, path);
        assertThat(probe.check("")).isEqualTo("SERVING");
    }

    @Test
    void aConnectionMoreThanItHasEndsTheOldest() throws IOException {
        List<Socket> connections = new ArrayList<>();
        try {
            for (int i = 0; i <= ProbeServer.CONNECTIONS; i++) {
                connections.add(new Socket("localhost", probes.port()));
            }
            Socket oldest = connections.get(0);
            oldest.setSoTimeout(20_000);
            byte[] greeting = oldest.getInputStream().readAllBytes(); // to the end of the stream

            assertThat(greeting).hasSizeLessThan(1000);
            assertThat(probe.check("")).isEqualTo("SERVING");
        } finally {
            for (Socket connection : connections) {
                connection.close();
            }
        }
    }

    @Test
    void aPortThatIsTakenIsAnErrorThatNamesIt() {
        assertThatThrownBy(() -> ProbeServer.start(sockets, probes.port(), () -> false))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("port " + probes.port() + "; choose a port that is free");
    }
}
