// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.LeaseStore.LeaseTimes;
import io.dra4j.runtime.internal.driver.Liveness.MountedDirectories;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import io.dra4j.runtime.internal.publish.LeaderElection;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running controller: it publishes pools of no single node while it is the leader, and prepares nothing. */
public final class RunningPools implements AutoCloseable {

    /** Replaces the node in metrics and in requests. */
    private static final String NO_NODE = "pool-controller";

    /** A directory that never exists: only a driver with a directory pins names to hardware. */
    private static final Path NO_DIRECTORY = Path.of("/proc/self/none");

    private static final Duration API_CHECK = Duration.ofSeconds(2);

    private final StartedParts parts = new StartedParts();
    private final Liveness liveness = new Liveness();
    private final DriverSettings settings;
    private final SuspendableProvider provider;
    private final SlicePublisher publisher;

    /**
     * The Lease by which processes elect a leader.
     *
     * @param namespace that of the Lease; empty for the pod's
     * @param identity that of the process; no other may ever have it
     */
    public record Candidacy(String namespace, String name, String identity, LeaseTimes times) {}

    /** Starts a controller; what was started is closed again if a step fails. */
    public RunningPools(DriverSettings settings, DeviceProvider vendors, Candidacy candidacy) {
        this.settings = settings;
        provider = parts.started(new SuspendableProvider(vendors, settings.clock, System::nanoTime));
        try {
            DriverSettings.requireDriverName(settings.driverName);
            Meters meters = parts.started(Meters.global(settings.driverName, NO_NODE));
            Readiness readiness = serveHttp(meters, new Readiness());
            meters.watch(Metric.BUILD_INFO, () -> 1, Cluster.release());
            Cluster cluster = parts.started(Cluster.connect(settings.kubeconfig, settings.driverName, NO_NODE, meters));
            cluster.requireDraApi(API_CHECK);
            NodeEventRecorder events =
                    parts.started(new NodeEventRecorder(settings, (warning, reason, message) -> {}, meters));
            Duration limit = candidacy.times.requestLimit();
            LeaderElection election = parts.started(new LeaderElection(
                    cluster.lease(candidacy.namespace, candidacy.name, limit), candidacy.identity, candidacy.times));
            publisher = new SlicePublisher(new SlicePublisher.Parts(
                    () -> inventory(provider),
                    settings.mayTaint,
                    cluster.slicesOfController(settings.driverName, limit, election::mayWrite),
                    election,
                    events,
                    meters,
                    () -> false,
                    UnaryOperator.identity(),
                    UnaryOperator.identity(),
                    new PinnedNames(settings.driverName, DevicePins.in(NO_DIRECTORY), cluster.claimReader(), events)));
            start(events);
            parts.started(publisher).readInventory();
            election.start();
            publisher.start();
            parts.started(readiness)
                    .started(() -> Stream.concat(
                                    election.problem().map("leader election: "::concat).stream(),
                                    publisher.missing().stream())
                            .toList());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private Readiness serveHttp(Meters meters, Readiness readiness) {
        HttpSettings http = settings.http();
        if (http != null) {
            parts.started(http.serve(meters, readiness.probes(liveness)));
        }
        return readiness;
    }

    private void start(NodeEventRecorder events) {
        parts.started(provider);
        try {
            provider.start(new ControllerContext(settings, publisher, events));
        } catch (DraException e) {
            throw e;
        } catch (Exception | LinkageError e) { // of a provider
            throw new DraException("The controller's provider can't start: " + e, e);
        }
        parts.started(liveness).started(provider, new MountedDirectories(List.of()), events);
    }

    /** Refuses pools of a node, which belong to its driver, and ids of hardware, which a controller can't keep. */
    private static Inventory inventory(DeviceProvider provider) throws Exception {
        Inventory read = provider.inventory();
        if (read == null) {
            return read; // which is reported where it is read
        }
        for (Pool pool : read.pools()) {
            if (pool.placement() instanceof Placement.ThisNode) {
                throw new DraException(
                        "Pool %s is for the driver's node, and a controller has none: place it by a node selector, on all nodes or per device"
                                .formatted(pool.name()));
            }
        }
        List<Pool> pools = read.pools().stream()
                .map(pool -> pool.toBuilder()
                        .devices(pool.devices().stream()
                                .map(device ->
                                        device.toBuilder().physicalId(null).build())
                                .toList())
                        .build())
                .toList();
        return new Inventory(pools, read.leftOut());
    }

    @Override
    public void close() {
        parts.close();
    }

    /** The part of a provider's view that drivers and controllers have. */
    interface PublishingContext extends DriverContext {

        DriverSettings settings();

        SlicePublisher publisher();

        EventRecorder events();

        @Override
        default String driverName() {
            return settings().driverName;
        }

        @Override
        default InstantSource clock() {
            return settings().clock;
        }

        @Override
        default void inventoryChanged() {
            publisher().inventoryChanged();
        }

        @Override
        default void notice(String subject, String message) {
            events().record(new DriverEvent(Reason.DRIVER_NOTICE, "notice of " + subject, message));
        }
    }

    /** The provider's view of a controller: it holds no claims, and has neither a node nor a kubelet. */
    private record ControllerContext(DriverSettings settings, SlicePublisher publisher, EventRecorder events)
            implements PublishingContext {

        @Override
        public String nodeName() {
            throw ofDrivers("nodeName()");
        }

        @Override
        public Path directory() {
            throw ofDrivers("directory()");
        }

        @Override
        public NodeLock lock(String name, Duration atMost) {
            throw ofDrivers("lock()");
        }

        private static IllegalStateException ofDrivers(String call) {
            return new IllegalStateException(
                    "A controller has neither a node nor a kubelet: %s is for drivers".formatted(call));
        }

        @Override
        public List<HeldClaim> held() {
            return List.of();
        }

        @Override
        public void reportHealth(Collection<DeviceHealth> reports) {
            throw ofDrivers("reportHealth()");
        }

        @Override
        public void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
            // A controller holds no claims.
        }

        @Override
        public void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata) {
            // A controller holds no claims.
        }
    }

    /** Parts that are closed in the reverse of the order in which they were started. */
    @SuppressWarnings("try") // a part may throw anything when it is closed; that is logged
    static final class StartedParts implements AutoCloseable {

        private static final Logger LOG = LoggerFactory.getLogger(StartedParts.class);

        private final Deque<AutoCloseable> parts = new ArrayDeque<>();

        <T extends AutoCloseable> T started(T part) {
            parts.push(part);
            return part;
        }

        @Override
        public void close() {
            while (!parts.isEmpty()) {
                AutoCloseable part = parts.pop();
                try {
                    part.close();
                } catch (Exception | Error e) { // the other parts must still be closed
                    LOG.atWarn().log("A part of the driver failed to close: {}", part, e);
                }
            }
        }
    }
}
