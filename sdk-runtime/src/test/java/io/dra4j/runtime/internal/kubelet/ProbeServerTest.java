// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse.ServingStatus;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.dra4j.runtime.internal.observe.Meters;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

    @AutoClose("shutdownNow")
    private ManagedChannel channel;

    @BeforeEach
    void start() {
        plugin = KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
        plugin.publish();
        probes = ProbeServer.start(sockets, 0, () -> needsRestart);
        channel = NettyChannelBuilder.forAddress("localhost", probes.port())
                .usePlaintext()
                .build();
        claims.before = prepares::incrementAndGet;
    }

    private ServingStatus check(String service) {
        return HealthGrpc.newBlockingStub(channel)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "liveness"})
    void eachCheckCallsTheDriver(String service) {
        assertThat(check(service)).isEqualTo(ServingStatus.SERVING);
        assertThat(check(service)).isEqualTo(ServingStatus.SERVING);
        assertThat(prepares).hasValue(2);
        assertThat(claims.requested).isEmpty();
    }

    @Test
    void aServiceOfAnotherNameIsNotFound() {
        assertThatThrownBy(() -> check("readiness"))
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
        assertThat(check("")).isEqualTo(ServingStatus.NOT_SERVING);

        Files.move(aside, path);
        assertThat(check("")).isEqualTo(ServingStatus.SERVING);
    }

    @Test
    void aCallThatFailsIsNotServing() {
        claims.before = () -> {
            throw new IllegalStateException("broken");
        };
        assertThat(check("")).isEqualTo(ServingStatus.NOT_SERVING);

        claims.before = () -> {};
        assertThat(check("")).isEqualTo(ServingStatus.SERVING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "liveness"})
    void aDriverThatNeedsARestartIsNotServing(String service) {
        needsRestart = true;
        assertThat(check(service)).isEqualTo(ServingStatus.NOT_SERVING);

        needsRestart = false;
        assertThat(check(service)).isEqualTo(ServingStatus.SERVING);
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
            assertThat(check("")).isEqualTo(ServingStatus.SERVING);
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
