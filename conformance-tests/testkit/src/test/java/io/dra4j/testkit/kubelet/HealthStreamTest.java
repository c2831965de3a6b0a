// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The kubelet's health stream reports an end by the driver, and none by the kubelet. */
class HealthStreamTest {

    private final ManagedChannel channel =
            NettyChannelBuilder.forTarget("dns:///127.0.0.1:1").directExecutor().build();
    private final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor();
    private final List<Status> ends = new ArrayList<>();
    private final HealthStream stream = new HealthStream(channel, loop, ends::add);

    @AfterEach
    void close() {
        channel.shutdownNow();
        loop.shutdownNow();
    }

    @Test
    void anEndByTheDriverIsReportedAsItCame() {
        stream.onCompleted();
        assertThat(ends).containsExactly(Status.OK);
    }

    @Test
    void noStreamIsOpenedAgainToADriverThatWasUnregistered() {
        channel.shutdownNow();
        stream.open();
        assertThat(ends).isEmpty();
    }

    @Test
    void theKubeletsOwnHangUpIsNoEndByTheDriver() {
        channel.shutdownNow();
        stream.onError(Status.UNAVAILABLE.asRuntimeException());
        assertThat(ends).isEmpty();
    }
}
