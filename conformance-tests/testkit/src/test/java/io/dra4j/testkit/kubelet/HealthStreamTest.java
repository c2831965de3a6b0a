// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc.DRAResourceHealthImplBase;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.HealthStatus;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesResponse;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kubelet's health stream reports an end by the driver, and none by the kubelet; a service has an earlier name, too. */
class HealthStreamTest {

    private final ManagedChannel channel =
            NettyChannelBuilder.forTarget("dns:///127.0.0.1:1").directExecutor().build();
    private final ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(1);
    private final List<Status> ends = new ArrayList<>();
    private final HealthStream stream = stream(Version.V1ALPHA1);

    private HealthStream stream(Version version) {
        return new HealthStream(channel, version, loop, ends::add);
    }

    @AfterEach
    void close() {
        channel.shutdownNow();
        loop.shutdownNow();
    }

    /** A kubelet of 1.36 knows no other version, and asks again. */
    @ParameterizedTest
    @CsvSource({
        "V1, UNIMPLEMENTED, 0",
        "V1, UNAVAILABLE, 1",
        "V1ALPHA1, UNIMPLEMENTED, 1",
    })
    void anEndIsFollowedByAnotherStreamUnlessItsVersionIsNotServed(Version version, Status.Code code, int more) {
        stream(version).onError(code.toStatus().asRuntimeException());

        assertThat(ends).extracting(Status::getCode).containsExactly(code);
        assertThat(loop.getQueue()).hasSize(more);
    }

    @Test
    void theKubeletsOwnHangUpIsNoEndByTheDriverAndItOpensNoOtherStream() {
        stream.onCompleted();
        channel.shutdownNow();
        stream.open();
        stream.onError(Status.UNAVAILABLE.asRuntimeException());

        assertThat(ends).containsExactly(Status.OK);
    }

    @Nested
    class ServedUnderItsEarlierName {

        private static final Duration LIMIT = Duration.ofSeconds(20);

        private final ServerServiceDefinition served =
                new ServiceName("v1alpha1.DRAResourceHealth").bind(new Unhealthy());
        private Server server;
        private ManagedChannel channel;

        @BeforeEach
        void start() throws IOException {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            server = NettyServerBuilder.forAddress(any)
                    .addService(served)
                    .build()
                    .start();
            channel = NettyChannelBuilder.forAddress(server.getListenSockets().get(0))
                    .usePlaintext()
                    .build();
        }

        @AfterEach
        void stop() {
            channel.shutdownNow();
            server.shutdownNow();
        }

        private static final class Unhealthy extends DRAResourceHealthImplBase {
            @Override
            public void nodeWatchResources(
                    NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
                var device = DeviceHealth.newBuilder().setHealth(HealthStatus.UNHEALTHY);
                response.onNext(NodeWatchResourcesResponse.newBuilder()
                        .addDevices(device)
                        .build());
                response.onCompleted();
            }
        }

        @Test
        void aMethodHasTheNameOfTheEarlierServiceWhoseClientIsUnderstood() throws InterruptedException {
            try (OpenHealthStream watch = OpenHealthStream.open(channel, OpenHealthStream.Version.V1ALPHA1)) {
                assertThat(watch.awaitEnd(LIMIT)).isTrue();

                assertThat(watch.end()).hasValue("OK");
                assertThat(watch.reports())
                        .extracting(report -> report.state(""))
                        .containsExactly("UNHEALTHY");
            }

            try (OpenHealthStream later = OpenHealthStream.open(channel, OpenHealthStream.Version.V1)) {
                assertThat(later.awaitEnd(LIMIT)).isTrue();
                assertThat(later.end()).hasValue("UNIMPLEMENTED");
            }
            assertThat(served.getServiceDescriptor().getMethods())
                    .extracting(MethodDescriptor::getFullMethodName)
                    .containsExactly("v1alpha1.DRAResourceHealth/NodeWatchResources");
        }
    }
}
