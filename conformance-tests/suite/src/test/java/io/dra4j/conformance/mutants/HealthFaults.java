// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import io.dra4j.testkit.stubs.health.v1alpha1.DRAResourceHealthGrpc.DRAResourceHealthImplBase;
import io.dra4j.testkit.stubs.health.v1alpha1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1alpha1.DeviceIdentifier;
import io.dra4j.testkit.stubs.health.v1alpha1.HealthStatus;
import io.dra4j.testkit.stubs.health.v1alpha1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1alpha1.NodeWatchResourcesResponse;
import io.grpc.BindableService;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What is told of the devices' health, to whom, and when. */
final class HealthFaults {

    private HealthFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-91" -> parts.health = Silent::new;
            case "M-92" -> parts.health = ChangesAlone::new;
            case "M-93a" -> parts.health = Millis::new;
            case "M-93b" -> parts.health = Unrefreshed::new;
            case "M-94" -> parts.health = LastComesFirst::new;
            case "M-115" -> parts.driver = given -> new Hanging(given, parts);
            case "M-121" -> parts.health = Ghosts::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class Silent extends HealthReports {
        private volatile boolean awake;

        Silent(BareDriver driver) {
            super(driver);
        }

        @Override
        void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
            if (awake) {
                super.opened(stream);
            }
        }

        @Override
        void tell(boolean changed) {
            awake |= changed;
            if (awake) {
                super.tell(changed);
            }
        }
    }

    private static final class ChangesAlone extends HealthReports {
        private final Map<String, HealthStatus> told = new HashMap<>();

        ChangesAlone(BareDriver driver) {
            super(driver);
        }

        @Override
        synchronized NodeWatchResourcesResponse report(boolean changed) {
            var report = NodeWatchResourcesResponse.newBuilder();
            for (DeviceHealth device : devices()) {
                String name = device.getDevice().getDeviceName();
                boolean news = told.put(name, device.getHealth()) != device.getHealth();
                if (news || !changed) {
                    report.addDevices(device);
                }
            }
            return report.build();
        }
    }

    private static final class Millis extends HealthReports {
        Millis(BareDriver driver) {
            super(driver);
        }

        @Override
        long time() {
            return System.currentTimeMillis();
        }
    }

    private static final class Unrefreshed extends HealthReports {
        Unrefreshed(BareDriver driver) {
            super(driver);
        }

        @Override
        void tell(boolean changed) {
            if (changed) {
                super.tell(true);
            }
        }
    }

    private static final class LastComesFirst extends HealthReports {
        LastComesFirst(BareDriver driver) {
            super(driver);
        }

        @Override
        void opened(ServerCallStreamObserver<NodeWatchResourcesResponse> stream) {
            streams.clear();
            super.opened(stream);
        }
    }

    private static final class Ghosts extends HealthReports {
        Ghosts(BareDriver driver) {
            super(driver);
        }

        @Override
        List<DeviceHealth> devices() {
            List<DeviceHealth> devices = new ArrayList<>(super.devices());
            DeviceHealth real = devices.get(0);
            devices.add(
                    real.toBuilder()
                            .setDevice(
                                    DeviceIdentifier.newBuilder()
                                            .setPoolName(real.getDevice().getPoolName())
                                            .setDeviceName("ghost-0"))
                            .build());
            return devices;
        }
    }

    /** Serves health without saying so, and never answers. */
    private static final class Hanging extends BareDriver {
        Hanging(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        List<BindableService> services() {
            List<BindableService> services = new ArrayList<>(super.services());
            services.add(
                    new DRAResourceHealthImplBase() {
                        @Override
                        public void nodeWatchResources(
                                NodeWatchResourcesRequest request,
                                StreamObserver<NodeWatchResourcesResponse> response) {
                            Life.current().say("Somebody waits for health");
                        }
                    });
            return services;
        }
    }
}
