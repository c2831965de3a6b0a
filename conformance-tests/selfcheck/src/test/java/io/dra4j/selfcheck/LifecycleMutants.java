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
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Mutants that begin, run or end wrongly, or report health or numbers of calls so. */
final class LifecycleMutants {

    private static final Queue<InputStream> LEAKED = new ConcurrentLinkedQueue<>();

    private LifecycleMutants() {}

    @Altered(id = "M-07b")
    static final class WithoutHealth extends BareDriver {
        @Override
        List<BindableService> services() {
            return List.of(new PluginV1(this), PluginV1.beta(this));
        }
    }

    @Altered(id = "M-12")
    static final class Sweeping extends BareDriver {
        @Override
        void start() throws IOException {
            try (var sockets = Files.newDirectoryStream(settings.registry(), "*.sock")) {
                for (Path socket : sockets) {
                    Files.delete(socket);
                }
            }
            super.start();
        }
    }

    @Altered(id = "M-88")
    static final class Unlinking extends SocketServer {
        @Override
        void remove() {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Altered(id = "M-98")
    static final class Leaking extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            try {
                LEAKED.add(Files.newInputStream(Path.of("/dev/null")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return super.prepare(version, claims);
        }
    }

    @Altered(id = "M-105")
    static final class Patient extends BareDriver {
        @Override
        void stop() {
            while (!health.streams.isEmpty()) {
                Pauses.millis(100);
            }
            super.stop();
        }
    }

    @Altered(id = "M-220")
    static final class Starting extends BareDriver {
        @Override
        void stop() {
            while (!publisher.published) {
                Pauses.millis(100);
            }
            super.stop();
        }
    }

    @Altered(id = "M-106")
    static final class Final extends BareDriver {
        @Override
        void stop() {
            super.stop();
            cdi.files().forEach(cdi::remove);
        }
    }

    /** Ends as soon as what it is at has had its effects. */
    @Altered(
            id = "M-119",
            with = {HastyWork.class, NamesOfTheMoment.class})
    static final class Hasty extends BareDriver {
        private volatile boolean stopping;

        /** In the wrong order, too: the kubelet hangs up on a call when the registration ends. */
        @Override
        void stop() {
            stopping = true;
            service.stop(GRACE);
            super.stop();
        }
    }

    static final class HastyWork extends StateMutants.TrustingWork {
        @Override
        ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
            effects(fresh);
            if (((Hasty) driver).stopping) {
                Life.current().end(0);
            }
            held.put(fresh.path("uid").asText(), fresh);
            finish(held, fresh);
            return fresh;
        }
    }

    /** Looks at its Node before anything else, and ends if it can't. */
    @Altered(id = "M-122")
    static final class OfTheNode extends BareDriver {
        @Override
        void start() throws IOException {
            api.get("/api/v1/nodes/" + settings.node());
            super.start();
        }
    }

    @Altered(id = "M-75a")
    static class Withdrawing extends BareDriver {
        @Override
        void stop() {
            super.stop();
            withdraw();
        }

        void withdraw() {
            try {
                publisher.existing().forEach(publisher.plan::delete);
            } catch (ApiClient.Failed e) {
                Life.current().log("Slices are left: " + e.getMessage());
            }
        }
    }

    @Altered(id = "M-90")
    static final class WithdrawingInUpdates extends Withdrawing {
        @Override
        void withdraw() {
            if (!settings.podUid().isEmpty()) {
                super.withdraw();
            }
        }
    }

    /** Clears away what a start that fails may have left: by a pattern that others' fit, too. */
    @Altered(id = "M-133")
    static final class Clearing extends BareDriver {
        @Override
        Settings settings(Settings given) {
            if (!Files.exists(Path.of(given.text("--kubeconfig", "")))) {
                try (var sockets = Files.newDirectoryStream(given.registry(), given.driver() + "*.sock")) {
                    for (Path socket : sockets) {
                        Files.delete(socket);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return given;
        }
    }

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
}
