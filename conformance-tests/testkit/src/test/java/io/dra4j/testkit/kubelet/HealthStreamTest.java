// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kubelet's health stream reports an end by the driver, and none by the kubelet. */
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

    @Test
    void anEndByTheDriverIsReportedAsItCame() {
        stream.onCompleted();
        assertThat(ends).containsExactly(Status.OK);
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
