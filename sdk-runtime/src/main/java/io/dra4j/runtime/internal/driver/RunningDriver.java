// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceBinder;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.kubelet.KubeletPlugin;
import io.dra4j.runtime.internal.kubelet.PluginSockets;
import io.dra4j.runtime.internal.kubelet.ProbeServer;
import io.dra4j.runtime.internal.observe.HttpEndpoint;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.status.BindingLoop;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a driver that runs, stopped in the reverse of the order in which they were started.
 *
 * <p>A driver advertises only what it can prepare: publishing comes last.
 */
@SuppressWarnings("try") // a part may throw anything when it is closed; that is logged
public final class RunningDriver implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RunningDriver.class);
    private static final Duration API_CHECK = Duration.ofSeconds(2);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final KubeletPlugin plugin;
    private final SlicePublisher publisher;

    public RunningDriver(DriverSettings settings, DeviceProvider provider) {
        try {
            Meters meters = started(Meters.global(settings.driverName(), settings.nodeName()));
            Readiness readiness = new Readiness();
            serveHttp(settings, meters, readiness);
            meters.watch(Metric.BUILD_INFO, () -> 1, Cluster.release());
            DataDirectory data = DataDirectory.of(settings);
            String boot = BootId.read(settings.procRoot());
            LockFile locks = started(LockFile.open(data.locks(), settings.clock()));
            Journal journal =
                    started(Journal.open(data.journal(), boot, locks, new JournalMetrics(meters)));
            Cluster cluster =
                    started(
                            Cluster.connect(
                                    settings.kubeconfig(),
                                    settings.driverName(),
                                    settings.nodeName(),
                                    meters));
            RunningHealth health = new RunningHealth(settings, provider);
            NodeEventRecorder events =
                    started(
                            new NodeEventRecorder(
                                    settings.onRecoverable(),
                                    settings.onFatal(),
                                    cluster::createEvent,
                                    meters,
                                    settings.clock()));
            publisher =
                    new SlicePublisher(
                            publishing(settings, provider, cluster, locks, meters, health, events));
            health.informs(publisher);
            CompletableFuture<Void> apiCheck =
                    CompletableFuture.runAsync(() -> cluster.requireDraApi(API_CHECK));
            ClaimReports reports = started(reports(settings, journal, cluster));
            RunningClaims running =
                    new RunningClaims(
                            settings,
                            provider,
                            cluster,
                            journal,
                            locks,
                            reports,
                            publisher::lastInventory,
                            events,
                            meters);
            ClaimPreparation claims = running.preparation();
            startProvider(
                    provider, new RunningContext(settings, claims, reports, publisher, health));
            started(running); // closed before the provider, which calls may still be in
            started(publisher).readInventory();
            join(apiCheck);
            running.recover(); // before a kubelet can prepare what this would take for lost
            health.measure(publisher, meters);
            plugin = serve(settings, claims, meters, health.feed(publisher));
            publisher.start();
            started(readiness).started(plugin, publisher);
            bind(settings, cluster);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private KubeletPlugin serve(
            DriverSettings settings,
            ClaimPreparation claims,
            Meters meters,
            @Nullable HealthFeed health) {
        PluginSockets sockets = settings.sockets();
        KubeletPlugin served =
                started(KubeletPlugin.start(sockets, claims, health, meters, settings.clock()));
        if (settings.healthcheckPort() >= 0) {
            started(ProbeServer.start(sockets, settings.healthcheckPort()));
        }
        return served;
    }

    /** First of all, so that a start that takes long is seen, and last to end. */
    private void serveHttp(DriverSettings settings, Meters meters, Readiness readiness) {
        HttpSettings http = settings.http();
        if (http == null) {
            return;
        }
        try {
            started(
                    HttpEndpoint.start(
                            http.address(), http.metricsPath(), meters, readiness::missing));
        } catch (IOException e) {
            throw new DraException(
                    "Can't serve HTTP on "
                            + http.address()
                            + " ("
                            + e.getMessage()
                            + "); choose another endpoint, or give none",
                    e);
        }
    }

    private static ClaimReports reports(DriverSettings settings, Journal journal, Cluster cluster) {
        return new ClaimReports(
                new ClaimReports.Parts(
                        settings.driverName(),
                        settings.nodeName(),
                        settings.dataDirectory(),
                        ref ->
                                journal.claim(ref.uid())
                                        .map(record -> record.held(journal.bootId())),
                        cluster.claimStatuses(),
                        settings.clock()),
                Executors.newSingleThreadScheduledExecutor(
                        RunningClaims.threads("dra4j-reports-")));
    }

    private void bind(DriverSettings settings, Cluster cluster) {
        DeviceBinder binder = settings.binder();
        if (binder != null) {
            started(
                    new BindingLoop(
                            new BindingLoop.Parts(
                                    settings.driverName(),
                                    settings.nodeName(),
                                    binder,
                                    this::isOfNode,
                                    cluster.claimFeed(),
                                    cluster.claimStatuses(),
                                    settings.clock()),
                            Executors.newSingleThreadScheduledExecutor(
                                    RunningClaims.threads("dra4j-binding-"))));
        }
    }

    /** The devices of other pools may be bound on any node, and the API does not name it. */
    private boolean isOfNode(PoolName name) {
        return publisher.lastInventory().stream()
                .flatMap(inventory -> inventory.pools().stream())
                .filter(pool -> pool.placement() instanceof Placement.ThisNode)
                .anyMatch(pool -> pool.name().equals(name));
    }

    private static SlicePublisher.Parts publishing(
            DriverSettings settings,
            DeviceProvider provider,
            Cluster cluster,
            LockFile locks,
            Meters meters,
            RunningHealth health,
            NodeEventRecorder events) {
        return new SlicePublisher.Parts(
                provider::inventory,
                provider.mayTaint() || health.mayTaint(),
                cluster.slices(),
                () -> locks.tryPublisher().map(held -> held::close),
                events,
                meters,
                settings.removesSlicesOnClose(),
                health::taint);
    }

    /** A server that is too old ends the start; one that can't be reached does not. */
    private static void join(CompletableFuture<Void> apiCheck) {
        try {
            apiCheck.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof DraException tooOld ? tooOld : e;
        }
    }

    private void startProvider(DeviceProvider provider, RunningContext context) {
        started(provider);
        try {
            provider.start(context);
        } catch (DraException e) {
            throw e;
        } catch (Exception | LinkageError e) { // of a provider
            throw new DraException("The driver's provider can't start on this node: " + e, e);
        }
    }

    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return plugin.awaitRegistered(timeout);
    }

    public boolean awaitPublished(Duration timeout) throws InterruptedException {
        return publisher.awaitPublished(timeout);
    }

    private <T extends AutoCloseable> T started(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception | LinkageError e) { // the other parts must be closed all the same
                LOG.atWarn().log("A part of the driver did not close well: {}", part, e);
            }
        }
    }
}
