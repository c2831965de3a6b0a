// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import io.dra4j.testkit.proxy.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;

/**
 * A node whose kubelet prepares a new claim each second, also while earlier ones wait. Its driver reaches an API
 * server over TLS, by the files of a service account, through its own proxy.
 */
final class LongLivedNode implements AutoCloseable {

    private static final int MOST_HELD = 4;

    private final Random random;
    private final ScheduledExecutorService clock;
    private final ExecutorService threads;
    private final TestNode node;
    private final TcpProxy proxy;
    private final Path account;
    private final KubeletStateFile kubeletState;
    private final ReadWriteLock kubeletRuns = new ReentrantReadWriteLock(); // of kubelet: calling, or restarting it
    private FakeKubelet kubelet;
    private final Set<String> known = ConcurrentHashMap.newKeySet(); // UIDs of claims in the kubelet's state
    private final AtomicInteger created = new AtomicInteger();
    private final Map<KubeletClaim, String> held = new LinkedHashMap<>(); // prepared, with its device; guarded by this
    private final List<String> free = new ArrayList<>(LongLivedProvider.DEVICES); // guarded by this
    private final Queue<CompletableFuture<?>> turns = new ConcurrentLinkedQueue<>();
    private int connectionsAtLastCut; // of the event's thread

    /** The times that prepares took. */
    final Queue<Duration> prepares = new ConcurrentLinkedQueue<>();

    LongLivedNode(long seed, ScheduledExecutorService clock, ExecutorService threads) throws Exception {
        this.random = new Random(seed);
        this.clock = clock;
        this.threads = threads;
        node = new TestNode(
                NAME,
                new InProcessDriver(LongLivedNode::run),
                EmbeddedApiServer.builder().tls());
        proxy = TcpProxy.before(node.api().tlsUrl());
        account = node.api()
                .writeServiceAccount(Files.createDirectory(node.place().root().resolve("account")));
        Files.writeString(node.place().kubeconfig(), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s", certificate-authority: "%s/ca.crt"}}]
                users: [{name: u, user: {tokenFile: "%s/token"}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(proxy.url(), account, account));
        kubeletState = KubeletStateFile.of(node.place().plugins());
        writeKubeletState();
        kubelet = node.kubelet();
        node.start();
        node.awaitRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
    }

    private static DraDriver run(Place place) {
        DraDriver driver = DraDriver.builder(place.driver(), place.node(), new LongLivedProvider(place.node()))
                .kubeconfig(place.kubeconfig())
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry())
                .build();
        driver.start();
        return driver;
    }

    /**
     * Prepares claims until an event has happened a number of times, and all prepares have ended.
     *
     * @param event returns whether it happened
     * @param least the shortest time between two, in milliseconds; the longest is half as long again
     */
    CompletableFuture<Void> live(int events, Callable<Boolean> event, int least) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        ScheduledFuture<?> ticks = clock.scheduleAtFixedRate(() -> run(this::turn), 0, 1, TimeUnit.SECONDS);
        later(random.nextInt(1_000, 3_000), () -> happen(events, event, least, over));
        return over.whenComplete((done, failure) -> ticks.cancel(false))
                .thenCompose(done -> CompletableFuture.allOf(turns.toArray(CompletableFuture[]::new)));
    }

    private void happen(int left, Callable<Boolean> event, int least, CompletableFuture<Void> over) {
        try {
            int still = event.call() ? left - 1 : left;
            if (still == 0) {
                later(2_500, () -> over.complete(null)); // two more prepares meet the last event
            } else {
                later(least + random.nextInt(least / 2), () -> happen(still, event, least, over));
            }
        } catch (Exception | AssertionError e) {
            over.completeExceptionally(e);
        }
    }

    private void later(int millis, Runnable task) {
        clock.schedule(() -> threads.execute(task), millis, TimeUnit.MILLISECONDS);
    }

    private void run(Callable<?> turn) {
        turns.add(CompletableFuture.runAsync(
                () -> {
                    try {
                        turn.call();
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                threads));
    }

    /** Prepares a claim, and unprepares an earlier one if there are enough. */
    private Void turn() throws IOException {
        String device = taken();
        KubeletClaim claim = allocate(device);
        prepare(claim, device);
        KubeletClaim surplus = kept(claim, device);
        if (surplus != null) {
            unprepare(surplus);
        }
        return null;
    }

    private KubeletClaim allocate(String... devices) {
        return node.allocate("claim-" + created.incrementAndGet(), devices);
    }

    private synchronized String taken() {
        return free.remove(random.nextInt(free.size()));
    }

    private synchronized KubeletClaim kept(KubeletClaim claim, String device) {
        held.put(claim, device);
        return held.size() > MOST_HELD ? new ArrayList<>(held.keySet()).get(random.nextInt(held.size())) : null;
    }

    private void prepare(KubeletClaim claim, String... devices) throws IOException {
        kubeletRuns.readLock().lock();
        try {
            known.add(claim.uid());
            writeKubeletState();
            long start = System.nanoTime();
            CallResult result = kubelet.prepare(NAME, List.of(claim));
            prepares.add(Duration.ofNanos(System.nanoTime() - start));
            assertThat(result.complaint()).isEmpty();
            assertThat(result.results().get(claim.uid()).devices())
                    .extracting(PreparedDevice::device)
                    .containsExactly(devices);
            assertThat(specOf(claim)).content().contains(devices);
        } finally {
            kubeletRuns.readLock().unlock();
        }
    }

    private void unprepare(KubeletClaim claim) throws IOException {
        kubeletRuns.readLock().lock();
        try {
            String device;
            synchronized (this) {
                device = held.remove(claim);
            }
            if (device == null) {
                return; // forgotten meanwhile, and its device is another claim's
            }
            assertThat(kubelet.unprepare(NAME, List.of(claim)).complaint()).isEmpty();
            assertThat(specOf(claim)).doesNotExist();
            known.remove(claim.uid());
            writeKubeletState();
            node.delete(claim);
            synchronized (this) {
                free.add(device);
            }
        } finally {
            kubeletRuns.readLock().unlock();
        }
    }

    private Path specOf(KubeletClaim claim) {
        return node.place().cdi().resolve("k8s." + NAME + "-claim_" + claim.uid() + ".json");
    }

    private synchronized void writeKubeletState() {
        kubeletState.write(
                known.stream().map(uid -> "{\"ClaimUID\":\"" + uid + "\"}").toArray(String[]::new));
    }

    /** Silences all connections, if there is one that is not silent yet. */
    boolean cut() {
        int connections = proxy.connections().size();
        boolean isNew = connections > connectionsAtLastCut;
        connectionsAtLastCut = connections;
        proxy.silenceAll();
        return isNew;
    }

    /** Replaces the CA and closes connections; the files follow, at times when the server uses it already. */
    boolean replaceAuthority() throws IOException {
        node.api().replaceAuthority();
        if (random.nextBoolean()) {
            later(random.nextInt(1_500), () -> run(() -> node.api().writeServiceAccount(account)));
        } else {
            node.api().writeServiceAccount(account);
        }
        node.api().closeConnections();
        return true;
    }

    /**
     * Starts the kubelet again without its state, if a claim is prepared. It prepares some claims again; others are
     * deallocated or deleted, and their devices belong to the next claims.
     */
    boolean forget() throws Exception {
        kubeletRuns.writeLock().lock();
        try {
            Map<KubeletClaim, String> forgotten = forgotten();
            if (forgotten.isEmpty()) {
                return false;
            }
            kubelet.close();
            Files.delete(kubeletState.path());
            known.clear();
            kubelet = FakeKubelet.start(node.place().registry());
            assertThat(kubelet.awaitRegistered(NAME, TIMEOUT)).isTrue();
            for (Map.Entry<KubeletClaim, String> one : forgotten.entrySet()) {
                giveAwayOrPrepareAgain(one.getKey(), one.getValue());
            }
            return true;
        } finally {
            kubeletRuns.writeLock().unlock();
        }
    }

    private synchronized Map<KubeletClaim, String> forgotten() {
        return new LinkedHashMap<>(held);
    }

    private void giveAwayOrPrepareAgain(KubeletClaim claim, String device) throws IOException {
        int fate = random.nextInt(3);
        if (fate == 0) {
            prepare(claim, device);
            return;
        }
        if (fate == 1) {
            node.delete(claim);
        } else {
            node.api()
                    .store()
                    .changeStatus(
                            "resourceclaims",
                            claim.namespace(),
                            claim.name(),
                            object -> object.withObject("/status").removeAll());
        }
        KubeletClaim next = allocate(device);
        prepare(next, device);
        assertThat(specOf(claim)).doesNotExist();
        synchronized (this) {
            held.remove(claim);
            held.put(next, device);
        }
    }

    /** Unprepares all claims, after which nothing is held: one claim can have all devices. */
    void end() throws IOException {
        for (KubeletClaim claim : forgotten().keySet()) {
            unprepare(claim);
        }
        assertThat(node.specs()).isEmpty();
        String[] all = LongLivedProvider.DEVICES.toArray(String[]::new);
        KubeletClaim everything = allocate(all);
        prepare(everything, all);
        assertThat(kubelet.unprepare(NAME, List.of(everything)).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
    }

    @Override
    public void close() {
        kubelet.close();
        proxy.close();
        node.close();
    }

    /** Devices with nothing behind them: as many as one claim can have. */
    private record LongLivedProvider(String node) implements DeviceProvider {

        static final List<String> DEVICES =
                IntStream.range(0, 32).mapToObj(i -> "gpu-" + i).toList();

        @Override
        public Inventory inventory() {
            return Inventory.of(Pool.ofNode(
                    node,
                    DEVICES.stream().map(name -> Device.builder(name).build()).toList()));
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
            return PreparedClaim.of(
                    claim.devices().stream().map(TestDriverMain::prepared).toList());
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {}
    }
}
