// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse.ServingStatus;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.dra4j.runtime.internal.observe.Meters;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real sockets of both kinds. */
class ProbeServerTest {

    private final AtomicInteger prepares = new AtomicInteger();
    private volatile RuntimeException failure;
    private Path root;
    private PluginSockets sockets;
    private KubeletPlugin plugin;
    private ProbeServer probes;
    private ManagedChannel channel;

    private final ClaimOperations claims =
            new ClaimOperations() {
                @Override
                public Map<ClaimRef, PrepareOutcome> prepare(
                        List<ClaimRef> requested, Instant end) {
                    prepares.incrementAndGet();
                    assertThat(requested).isEmpty();
                    if (failure != null) {
                        throw failure;
                    }
                    return Map.of();
                }

                @Override
                public Map<String, UnprepareOutcome> unprepare(
                        List<String> requested, Instant end) {
                    return Map.of();
                }
            };

    @BeforeEach
    void start() throws IOException {
        root = Files.createTempDirectory(Path.of("/tmp"), "dp-");
        sockets =
                new PluginSockets(
                        "gpu.example.com",
                        Files.createDirectory(root.resolve("r")),
                        Files.createDirectory(root.resolve("d")),
                        null);
        plugin = KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
        probes = ProbeServer.start(sockets, 0);
        channel = NettyChannelBuilder.forAddress("localhost", probes.port()).usePlaintext().build();
        prepares.set(0);
    }

    @AfterEach
    void stop() throws IOException {
        channel.shutdownNow();
        probes.close();
        plugin.close();
        try (Stream<Path> left = Files.walk(root)) {
            left.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
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
        failure = new IllegalStateException("broken");
        assertThat(check("")).isEqualTo(ServingStatus.NOT_SERVING);

        failure = null;
        assertThat(check("")).isEqualTo(ServingStatus.SERVING);
    }

    @Test
    void aPortThatIsTakenIsAnErrorThatNamesIt() {
        assertThatThrownBy(() -> ProbeServer.start(sockets, probes.port()))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("port " + probes.port() + "; choose a port that is free");
    }
}
