// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.kubelet.ServiceName;
import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc.DRAResourceHealthImplBase;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.DeviceIdentifier;
import io.dra4j.testkit.stubs.health.v1.HealthStatus;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesResponse;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Mutants that report the devices' health wrongly, or count wrongly in their metrics. */
final class HealthMutants {

    private HealthMutants() {}

    @Altered(id = "M-91")
    static final class Silent extends HealthReports {
        private volatile boolean awake;

        @Override
        void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
            if (awake) {
                super.opened(stream);
            }
        }

        @Override
        void send(boolean changed) {
            awake |= changed;
            if (awake) {
                super.send(changed);
            }
        }
    }

    @Altered(id = "M-92")
    static final class ChangesAlone extends HealthReports {
        private final Map<String, HealthStatus> sent = new HashMap<>();

        @Override
        synchronized NodeWatchResourcesResponse report(boolean changed) {
            var report = NodeWatchResourcesResponse.newBuilder();
            for (DeviceHealth device : devices()) {
                String name = device.getDevice().getDeviceName();
                boolean news = sent.put(name, device.getHealth()) != device.getHealth();
                if (news || !changed) {
                    report.addDevices(device);
                }
            }
            return report.build();
        }
    }

    @Altered(id = "M-93a")
    static final class Millis extends HealthReports {
        @Override
        long time() {
            return System.currentTimeMillis();
        }
    }

    @Altered(id = "M-93b")
    static final class Unrefreshed extends HealthReports {
        @Override
        void send(boolean changed) {
            if (changed) {
                super.send(true);
            }
        }
    }

    @Altered(id = "M-94")
    static final class LastComesFirst extends HealthReports {
        @Override
        void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
            streams.clear();
            super.opened(stream);
        }
    }

    @Altered(id = "M-121")
    static final class Ghosts extends HealthReports {
        @Override
        List<DeviceHealth> devices() {
            List<DeviceHealth> devices = new ArrayList<>(super.devices());
            DeviceHealth real = devices.get(0);
            devices.add(real.toBuilder()
                    .setDevice(DeviceIdentifier.newBuilder()
                            .setPoolName(real.getDevice().getPoolName())
                            .setDeviceName("ghost-0"))
                    .build());
            return devices;
        }
    }

    @Altered(id = "M-147")
    static final class UnknownByV1 extends HealthReports {
        @Override
        ServerServiceDefinition served(String version) {
            return version.equals(V1) ? new ServiceName(V1).bind(new Unknowing()) : super.served(version);
        }

        private final class Unknowing extends DRAResourceHealthImplBase {
            @Override
            public void nodeWatchResources(
                    NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
                NodeWatchResourcesResponse.Builder report = report(false).toBuilder();
                report.getDevicesBuilderList().forEach(device -> device.setHealth(HealthStatus.UNKNOWN));
                response.onNext(report.build());
            }
        }
    }

    /** Serves health without saying so, and never answers. */
    @Altered(id = "M-115")
    static final class Hanging extends BareDriver {
        @Override
        List<BindableService> services() {
            List<BindableService> services = new ArrayList<>(super.services());
            BindableService silent = new DRAResourceHealthImplBase() {
                @Override
                public void nodeWatchResources(
                        NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
                    Life.current().log("A client waits for health");
                }
            };
            services.add(() -> new ServiceName(HealthReports.V1ALPHA1).bind(silent));
            return services;
        }
    }

    @Altered(id = "M-136a")
    static final class WithoutErrors extends CallCounters {
        @Override
        void count(String operation, boolean good) {
            if (good) {
                super.count(operation, true);
            }
        }
    }
}
