// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.kubelet.ServiceName;
import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc.DRAResourceHealthImplBase;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.DeviceIdentifier;
import io.dra4j.testkit.stubs.health.v1.HealthStatus;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesResponse;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Sends all devices on every stream: at its start, upon changes, and again before that is old. */
class HealthReports extends DRAResourceHealthImplBase {

    static final String V1 = "v1.DRAResourceHealth";
    static final String V1ALPHA1 = "v1alpha1.DRAResourceHealth";

    private static final long REFRESH = 8_000;
    private static final long LOOK = 200;

    final BareDriver driver = Parts.driver();
    final List<ServerCallStreamObserver<NodeWatchResourcesResponse>> streams = new CopyOnWriteArrayList<>();

    /** The services' names, as they are declared and served. */
    List<String> versions() {
        return List.of(V1, V1ALPHA1);
    }

    ServerServiceDefinition served(String version) {
        return new ServiceName(version).bind(this);
    }

    void start() {
        Pauses.daemon("health", this::run);
    }

    private void run() {
        List<String> sent = driver.inventory.faultLines();
        long due = System.nanoTime() + REFRESH * 1_000_000;
        while (true) {
            Pauses.millis(LOOK);
            List<String> now = driver.inventory.faultLines();
            boolean changed = !now.equals(sent);
            if (changed || System.nanoTime() > due) {
                sent = now;
                due = System.nanoTime() + REFRESH * 1_000_000;
                send(changed);
            }
        }
    }

    void send(boolean changed) {
        NodeWatchResourcesResponse report = report(changed);
        streams.forEach(stream -> send(stream, report));
    }

    void send(ServerCallStreamObserver<NodeWatchResourcesResponse> stream, NodeWatchResourcesResponse report) {
        synchronized (stream) {
            if (!stream.isCancelled()) {
                stream.onNext(report);
            }
        }
    }

    @Override
    public void nodeWatchResources(
            NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
        var stream = (ServerCallStreamObserver<NodeWatchResourcesResponse>) response;
        stream.setOnCancelHandler(() -> streams.remove(stream));
        opened(stream);
        streams.add(stream);
    }

    void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
        send(stream, report(false));
    }

    NodeWatchResourcesResponse report(boolean changed) {
        return NodeWatchResourcesResponse.newBuilder().addAllDevices(devices()).build();
    }

    List<DeviceHealth> devices() {
        Map<String, String[]> faults = driver.inventory.faults();
        List<DeviceHealth> devices = new ArrayList<>();
        driver.inventory.pools().forEach((pool, members) -> {
            for (ObjectNode device : members) {
                String name = device.path("name").asText();
                String[] fault = faults.getOrDefault(name, new String[] {name, ""});
                if (!fault[1].equals("silent")) {
                    devices.add(device(pool, name, fault));
                }
            }
        });
        return devices;
    }

    DeviceHealth device(String pool, String name, String[] fault) {
        HealthStatus status = switch (fault[1]) {
            case "unhealthy", "NoSchedule", "NoExecute" -> HealthStatus.UNHEALTHY;
            case "unknown" -> HealthStatus.UNKNOWN;
            default -> HealthStatus.HEALTHY;
        };
        return DeviceHealth.newBuilder()
                .setDevice(DeviceIdentifier.newBuilder().setPoolName(pool).setDeviceName(name))
                .setHealth(status)
                .setLastUpdatedTime(time())
                .setHealthCheckTimeoutSeconds(30)
                .setMessage(
                        status == HealthStatus.HEALTHY
                                ? ""
                                : String.join(" ", Arrays.asList(fault).subList(2, fault.length)))
                .build();
    }

    long time() {
        return System.currentTimeMillis() / 1000;
    }
}
