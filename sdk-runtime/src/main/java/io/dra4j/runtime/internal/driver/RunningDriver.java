// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.Adoption;
import io.dra4j.runtime.internal.claim.ClaimParts;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.claim.ProviderCalls;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.driver.Liveness.MountedDirectories;
import io.dra4j.runtime.internal.driver.RunningPools.StartedParts;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.kubelet.KubeletPlugin;
import io.dra4j.runtime.internal.kubelet.ProbeServer;
import io.dra4j.runtime.internal.measure.DeviceSampler;
import io.dra4j.runtime.internal.observe.HttpEndpoint;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.publish.Turn;
import io.dra4j.runtime.internal.status.BindingLoop;
import io.dra4j.runtime.internal.status.ClaimReports;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.dra4j.runtime.takeover.TakeOver;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The parts of a driver that runs, stopped in the reverse of the order in which they were started.
 *
 * <p>A driver advertises only what it can prepare: publishing comes last.
 */
public final class RunningDriver implements AutoCloseable {

    private static final Duration API_CHECK = Duration.ofSeconds(2);

    /** Threads with the caller's class loader, unlike those of the common pool. */
    private final Executor beside = ShortLivedThreads.unlimited("dra4j-start");

    private final StartedParts parts = new StartedParts();
    private final DriverSettings settings;
    private final SuspendableProvider provider;
    private final Meters meters;
    private final LockFile locks;
    private final Journal journal;
    private final Cluster cluster;
    private final DevicePins pins;
    private final RunningHealth health;
    private final NodeEventRecorder events;
    private final DevicePolicies policies;
    private final LegacyPluginWatch legacyPlugin;
    private final RunningMaintenance maintenance;
    private final Liveness liveness = new Liveness();
    private final SlicePublisher publisher;
    private final KubeletPlugin plugin;
    private OptionalInt httpPort = OptionalInt.empty();
    private OptionalInt healthcheckPort = OptionalInt.empty();

    /** Starts a driver; what was started is closed again if a step fails. */
    public RunningDriver(DriverSettings settings, DeviceProvider provider) {
        this.settings = settings;
        this.provider = started(new SuspendableProvider(provider, settings.clock, System::nanoTime));
        try {
            DataDirectory data = settings.data().create();
            locks = locks(data);
            meters = started(Meters.global(settings.driverName, settings.nodeName));
            CompletableFuture<Cluster> connecting = connecting(); // the rest is ready sooner than its answer
            CompletableFuture<Void> apiCheck = check(connecting);
            Readiness readiness = serveHttp(new Readiness());
            meters.watch(Metric.BUILD_INFO, () -> 1, Cluster.release());
            journal = started(openJournal(data));
            pins = DevicePins.in(settings.dataDirectory());
            cluster = takenOver(join(connecting));
            health = new RunningHealth(settings);
            events = started(new NodeEventRecorder(settings, cluster::createEvent, meters));
            policies = new DevicePolicies(settings.driverName, settings.nodeName, settings.devicePolicy, events);
            legacyPlugin = started(new LegacyPluginWatch(
                    settings, cluster.checked(), events, ShortLivedThreads.upkeep("dra4j-legacy")));
            maintenance = new RunningMaintenance(new MaintenanceFiles(data.path()), policies, this.provider, events);
            publisher = new SlicePublisher(publishing());
            health.informs(publisher);
            ClaimReports reports = started(reports());
            RunningClaims running = new RunningClaims(claims(reports), meters);
            ClaimPreparation claims = running.preparation();
            startProvider(new RunningContext(settings, locks, claims, reports, publisher, health, events));
            started(running); // closed before the provider, which may still be in a call
            started(publisher).readInventory();
            followPolicies(claims);
            plugin = started(serve(claims)); // while the API server's answer is awaited
            join(apiCheck);
            recover(running); // before a kubelet can prepare a claim that this would consider lost
            publish();
            started(readiness).started(plugin, publisher);
            bind();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Called first, since an instance with the same sockets would replace them; the end of a process unlocks it. */
    private LockFile locks(DataDirectory data) {
        LockFile opened = started(LockFile.open(data.locks()));
        if (!opened.tryRun()) {
            throw new DraException("The claims of this driver are being handed over to another driver; start it later");
        }
        started(opened.named(
                "instance/" + settings.podUid,
                Duration.ZERO,
                holder ->
                        "The driver %s is already running, with %s, and holds the directory %s: it is %s. Stop it first; in a rolling update, each instance needs its own pod's UID (podUid)"
                                .formatted(
                                        settings.driverName,
                                        settings.podUid == null ? "no pod's UID" : "the pod's UID " + settings.podUid,
                                        data.path(),
                                        holder)));
        return opened;
    }

    /** Called before the provider starts, which is then given all claims. */
    private Cluster takenOver(Cluster connected) {
        TakeOver other = settings.takeOver;
        if (other != null) {
            new Adoption(
                            settings.driverName,
                            settings.nodeName,
                            provider.configTypes(),
                            journal,
                            connected.claimReader(),
                            other,
                            settings.dataDirectory())
                    .run();
        }
        return connected;
    }

    /** Serves on sockets that the kubelet does not see yet. */
    private KubeletPlugin serve(ClaimPreparation claims) {
        HealthFeed feed = health.feed(publisher);
        return KubeletPlugin.start(settings.sockets(), claims, feed, meters, settings.clock);
    }

    private void recover(RunningClaims claims) {
        claims.recover(List.of(() -> settings.data().create(), locks::restore, plugin::look));
    }

    private void publish() {
        health.measure(publisher, meters);
        plugin.publish();
        serveProbes();
        if (!settings.withholdsBesideLegacyPlugin) {
            publisher.start();
        }
        if (settings.watchesLegacyPlugin) {
            legacyPlugin.start(() -> {
                publisher.start(); // if the Node had to be read first
                publisher.taintsChanged();
            });
        }
    }

    private void serveProbes() {
        if (settings.healthcheckPort >= 0) {
            ProbeServer probes = started(ProbeServer.start(
                    settings.sockets(),
                    settings.healthcheckPort,
                    () -> liveness.restartReason().isPresent()));
            healthcheckPort = OptionalInt.of(probes.port());
        }
    }

    /** Called early, so that a slow start is visible. */
    private Readiness serveHttp(Readiness readiness) {
        HttpSettings http = settings.http();
        if (http != null) {
            HttpEndpoint endpoint = started(http.serve(meters, readiness.probes(liveness)));
            httpPort = OptionalInt.of(endpoint.address().getPort());
        }
        return readiness;
    }

    private ClaimReports reports() {
        return new ClaimReports(
                new ClaimReports.Parts(
                        settings.driverName,
                        settings.nodeName,
                        settings.dataDirectory(),
                        ref -> journal.claim(ref.uid()).map(record -> record.held(journal.bootId())),
                        cluster.claimStatuses(),
                        settings.metadataVersions,
                        settings.clock),
                ShortLivedThreads.upkeep("dra4j-reports"));
    }

    private ClaimParts claims(ClaimReports reports) {
        return new ClaimParts(
                settings.driverName,
                provider,
                new ProviderCalls(settings.serialized ? locks : null),
                cluster.claimReader(),
                journal,
                locks,
                pins,
                new CdiSpecs(settings.cdiRoot, settings.driverName),
                reports,
                publisher::lastInventory,
                publisher::unreadable,
                settings.clock,
                events,
                meters,
                settings.dataDirectory());
    }

    private void bind() {
        ReadinessCheck check = settings.readinessCheck;
        if (check != null) {
            started(new BindingLoop(
                    new BindingLoop.Parts(
                            settings.driverName,
                            settings.nodeName,
                            check,
                            () -> publisher.lastInventory().isPresent(),
                            this::isOfNode,
                            cluster.claimFeed(),
                            cluster.claimStatuses(),
                            settings.clock),
                    ShortLivedThreads.upkeep("dra4j-binding")));
        }
    }

    /** The devices of other pools may be bound on any node, and the API does not name it. */
    private boolean isOfNode(PoolName name) {
        return publisher.lastInventory().stream()
                .flatMap(inventory -> inventory.pools().stream())
                .filter(pool -> pool.placement() instanceof Placement.ThisNode)
                .anyMatch(pool -> pool.name().equals(name));
    }

    private Journal openJournal(DataDirectory data) {
        return Journal.open(data.journal(), BootId.read(settings.procRoot), locks, meters);
    }

    private void followPolicies(ClaimPreparation claims) {
        started(new PolicyLoop(policies, publisher, maintenance, claims::held, meters))
                .start();
    }

    private SlicePublisher.Parts publishing() {
        InventoryPipeline pipeline = new InventoryPipeline(health, policies, legacyPlugin);
        return new SlicePublisher.Parts(
                provider::inventory,
                settings.mayTaint || health.mayTaint() || settings.devicePolicy != null,
                cluster.slices(),
                () -> locks.tryPublisher().map(held -> new Turn(held::isLost, held::close)),
                events,
                meters,
                () -> settings.removesSlicesOnClose && locks.isOnlyInstance(),
                pipeline::changed,
                pipeline::changedStored,
                new PinnedNames(settings.driverName, pins, cluster.claimReader(), events));
    }

    /** Reading a kubeconfig and the certificates, before the first request, takes time. */
    private CompletableFuture<Cluster> connecting() {
        CompletableFuture<Cluster> connecting = CompletableFuture.supplyAsync(
                () -> Cluster.connect(settings.kubeconfig, settings.driverName, settings.nodeName, meters), beside);
        started(() -> connecting.thenAccept(Cluster::close));
        return connecting;
    }

    private CompletableFuture<Void> check(CompletableFuture<Cluster> connecting) {
        return connecting.thenAcceptAsync(api -> api.requireDraApi(API_CHECK), beside);
    }

    /** Throws what another thread threw: no kubeconfig, say, or a server that is too old. */
    private static <T> T join(CompletableFuture<T> part) {
        try {
            return part.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof DraException known ? known : e;
        }
    }

    private void startProvider(RunningContext context) {
        try {
            startOrClose(context);
        } catch (DraException e) {
            throw e;
        } catch (Exception | LinkageError e) { // of a provider
            throw new DraException("The driver's provider can't start on this node: " + e, e);
        }
        started(provider);
        started(liveness).started(provider, directories(), events);
        DeviceSampler devices = new DeviceSampler(provider, context.claims()::inUse, meters);
        meters.watchDevices(started(devices)::sample);
    }

    /** Starts the provider, or closes it; a failure to close says less than the failure to start. */
    private void startOrClose(RunningContext context) throws Exception {
        try {
            provider.start(context);
        } catch (Exception | Error e) {
            try (provider) {
                throw e;
            }
        }
    }

    private MountedDirectories directories() {
        return new MountedDirectories(List.of(settings.dataDirectory(), settings.registrarDirectory, settings.cdiRoot));
    }

    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return plugin.awaitRegistered(timeout);
    }

    public boolean awaitPublished(Duration timeout) throws InterruptedException {
        return publisher.awaitPublished(timeout);
    }

    public OptionalInt httpPort() {
        return httpPort;
    }

    public OptionalInt healthcheckPort() {
        return healthcheckPort;
    }

    private <T extends AutoCloseable> T started(T part) {
        return parts.started(part);
    }

    @Override
    public void close() {
        parts.close();
    }

    /** Checks every second whether admins changed the policy or maintenance, and publishes the result. */
    private static final class PolicyLoop implements AutoCloseable {

        private static final Logger LOG = LoggerFactory.getLogger(PolicyLoop.class);
        private static final Duration INTERVAL = Duration.ofSeconds(1);

        private final DevicePolicies policies;
        private final SlicePublisher publisher;
        private final RunningMaintenance maintenance;
        private final Supplier<List<HeldClaim>> held;
        private String failure = ""; // used only by the timer's thread

        private final ScheduledExecutorService timer = ShortLivedThreads.upkeep("dra4j-policy");

        PolicyLoop(
                DevicePolicies policies,
                SlicePublisher publisher,
                RunningMaintenance maintenance,
                Supplier<List<HeldClaim>> held,
                Meters meters) {
            this.policies = policies;
            this.publisher = publisher;
            this.maintenance = maintenance;
            this.held = held;
            meters.watch(
                    Metric.EXCLUDED_DEVICES,
                    () -> publisher.lastInventory().map(policies::excluded).orElse(0L));
            meters.watch(Metric.MAINTAINED_DEVICES, () -> maintenance.concerned(publisher));
        }

        /** Checks the policy with the first inventory, and looks for changes from now on. */
        void start() {
            publisher.lastInventory().ifPresent(policies::check);
            timer.scheduleWithFixedDelay(this::look, INTERVAL.toMillis(), INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        }

        private void look() {
            try {
                if (policies.reload(publisher.lastInventory().orElse(null))) {
                    publisher.taintsChanged();
                }
                maintenance.look(publisher, held);
                failure = "";
            } catch (Exception e) { // also of a provider; the next look may succeed
                String now = String.valueOf(e);
                LOG.atLevel(now.equals(failure) ? Level.DEBUG : Level.ERROR)
                        .setCause(e)
                        .log("The device policy or maintenance can't be applied; trying again");
                failure = now;
            }
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }
}
