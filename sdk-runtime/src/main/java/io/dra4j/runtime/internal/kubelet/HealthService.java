// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc;
import io.dra4j.kubelet.health.v1.DeviceHealth;
import io.dra4j.kubelet.health.v1.DeviceIdentifier;
import io.dra4j.kubelet.health.v1.HealthStatus;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesResponse;
import io.dra4j.runtime.internal.claim.ClaimOperations.OwnerText;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet's health service: each open stream is a listener of the feed.
 *
 * <p>A stream ends when its caller cancels it or the driver stops, never otherwise. Lists are not queued for a caller
 * that does not read: it gets the newest when it reads again.
 */
final class HealthService extends DRAResourceHealthGrpc.DRAResourceHealthImplBase {

    static final int LONGEST_MESSAGE = 1024; // bytes; the kubelet cuts what is longer

    private final HealthFeed feed;
    private final InstantSource clock;

    HealthService(HealthFeed feed, InstantSource clock) {
        this.feed = feed;
        this.clock = clock;
    }

    @Override
    public void nodeWatchResources(
            NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
        var caller = (ServerCallStreamObserver<NodeWatchResourcesResponse>) response;
        Stream stream = new Stream(caller);
        caller.setOnCancelHandler(() -> feed.leave(stream));
        caller.setOnReadyHandler(stream::send);
        feed.join(stream);
    }

    /** A valid report counts as current, regardless of its age. */
    private NodeWatchResourcesResponse list(List<Current> devices) {
        NodeWatchResourcesResponse.Builder list = NodeWatchResourcesResponse.newBuilder();
        long now = clock.instant().getEpochSecond();
        devices.forEach(device -> list.addDevices(health(device, now)));
        return list.build();
    }

    private static DeviceHealth health(Current device, long seconds) {
        return DeviceHealth.newBuilder()
                .setDevice(DeviceIdentifier.newBuilder()
                        .setPoolName(device.pool().value())
                        .setDeviceName(device.device().value()))
                .setHealth(HealthStatus.valueOf(device.state().name()))
                .setLastUpdatedTime(seconds)
                .setHealthCheckTimeoutSeconds(HealthFeed.TIMEOUT.toSeconds())
                .setMessage(OwnerText.cut(device.message(), LONGEST_MESSAGE))
                .build();
    }

    private final class Stream implements HealthFeed.Listener {
        private final ServerCallStreamObserver<NodeWatchResourcesResponse> caller;

        private @Nullable List<Current> unsent; // guarded by this, as is the caller
        private boolean ended; // guarded by this

        Stream(ServerCallStreamObserver<NodeWatchResourcesResponse> caller) {
            this.caller = caller;
        }

        @Override
        public synchronized void update(List<Current> devices) {
            unsent = devices;
            send();
        }

        private synchronized void send() {
            if (unsent != null && !ended && caller.isReady()) {
                caller.onNext(list(unsent));
                unsent = null;
            }
        }

        @Override
        public synchronized void end() {
            ended = true;
            caller.onCompleted();
        }
    }
}
