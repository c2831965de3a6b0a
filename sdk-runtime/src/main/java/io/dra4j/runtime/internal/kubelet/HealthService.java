// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc;
import io.dra4j.kubelet.health.v1.DeviceHealth;
import io.dra4j.kubelet.health.v1.DeviceIdentifier;
import io.dra4j.kubelet.health.v1.HealthStatus;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesResponse;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;

/** The kubelet's health stream: words to wire. */
final class HealthService extends DRAResourceHealthGrpc.DRAResourceHealthImplBase {

    private final HealthStreams streams;

    private HealthService(HealthStreams streams) {
        this.streams = streams;
    }

    /** The service for kubelets from 1.37 on. */
    static ServerServiceDefinition v1(HealthStreams streams) {
        return new HealthService(streams).bindService();
    }

    /** The service for kubelets up to 1.36. */
    static ServerServiceDefinition v1alpha1(HealthStreams streams) {
        return EarlierVersion.of(new HealthService(streams), "v1alpha1.DRAResourceHealth");
    }

    @Override
    public void nodeWatchResources(
            NodeWatchResourcesRequest request,
            StreamObserver<NodeWatchResourcesResponse> response) {
        streams.open(
                response,
                (devices, facts) -> {
                    NodeWatchResourcesResponse.Builder list =
                            NodeWatchResourcesResponse.newBuilder();
                    devices.forEach(device -> list.addDevices(device(device, facts)));
                    return list.build();
                });
    }

    private static DeviceHealth device(Current device, HealthStreams.Facts facts) {
        return DeviceHealth.newBuilder()
                .setDevice(
                        DeviceIdentifier.newBuilder()
                                .setPoolName(device.pool().value())
                                .setDeviceName(device.device().value()))
                .setHealth(HealthStatus.valueOf(device.state().name()))
                .setLastUpdatedTime(facts.seconds())
                .setHealthCheckTimeoutSeconds(facts.timeoutSeconds())
                .setMessage(HealthStreams.message(device))
                .build();
    }
}
