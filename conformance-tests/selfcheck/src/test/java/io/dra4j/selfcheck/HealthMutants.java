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

/** Mutants that report the devices' health wrongly, to the wrong stream, or too late. */
final class HealthMutants {

    private HealthMutants() {}

    @Mutant(id = "M-91", what = "sends no health before the first change")
    @Violation("DRA-HLT-01: has not come on the health stream within")
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

    @Mutant(id = "M-92", what = "sends the health of changed devices only")
    @Violation("DRA-HLT-02: a message of health must be complete")
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

    @Mutant(id = "M-93a", what = "sends times in milliseconds")
    @Violation("DRA-HLT-03: it is in the future, or not in seconds")
    static final class Millis extends HealthReports {
        @Override
        long time() {
            return System.currentTimeMillis();
        }
    }

    @Mutant(id = "M-93b", what = "never refreshes", timeoutFactor = 0.3)
    @Violation("DRA-HLT-03: was not refreshed in time: its last_updated_time")
    static final class Unrefreshed extends HealthReports {
        @Override
        void send(boolean changed) {
            if (changed) {
                super.send(true);
            }
        }
    }

    @Mutant(id = "M-94", what = "a second health stream starves the first", timeoutFactor = 0.3)
    @Violation("DRA-HLT-04: counted in the order of opening, receives nothing more")
    static final class LastComesFirst extends HealthReports {
        @Override
        void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
            streams.clear();
            super.opened(stream);
        }
    }

    @Mutant(id = "M-121", what = "health names devices that were never published")
    @Violation("DRA-HLT-05: the health stream names device")
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

    @Mutant(id = "M-147", what = "health v1 is served, and all that it sends is Unknown", collateral = "DRA-HLT-02")
    @Violation("DRA-HLT-07: what v1alpha1.DRAResourceHealth tells at the same time")
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
    @Mutant(id = "M-115", what = "a health call that is not declared hangs", options = "--health=false")
    @Violation("DRA-HLT-06: it must be answered with UNIMPLEMENTED at once")
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
}
