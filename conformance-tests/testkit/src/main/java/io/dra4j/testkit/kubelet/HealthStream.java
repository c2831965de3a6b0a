// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The health stream that a kubelet opens to every driver, whether it declared one or not, and opens again 5 s after it
 * ended. One of {@code v1} is not opened again once the driver has answered that it does not serve it.
 */
record HealthStream(ManagedChannel channel, Version version, ScheduledExecutorService loop, Consumer<Status> onEnd)
        implements StreamObserver<NodeWatchResourcesResponse> {
    private static final Duration RETRY = Duration.ofSeconds(5);

    void open() {
        if (channel.isShutdown()) {
            return; // the plugin was unregistered since the stream ended
        }
        DRAResourceHealthGrpc.newStub(channel)
                .withInterceptors(version.grpcName())
                .nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), this);
    }

    @Override
    public void onNext(NodeWatchResourcesResponse report) {
        // reports are checked by the health profile, not by the kubelet
    }

    @Override
    public void onError(Throwable failure) {
        end(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
        end(Status.OK);
    }

    private void end(Status status) {
        if (channel.isShutdown()) {
            return; // the kubelet hung up
        }
        onEnd.accept(status);
        boolean isGivenUp = version == Version.V1 && status.getCode() == Status.Code.UNIMPLEMENTED;
        if (!isGivenUp) {
            try {
                loop.schedule(this::open, RETRY.toMillis(), TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // the kubelet ended meanwhile
            }
        }
    }
}
