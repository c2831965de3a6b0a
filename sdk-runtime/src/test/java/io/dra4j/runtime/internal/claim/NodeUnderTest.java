// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.runtime.internal.status.ClaimReports;
import io.dra4j.runtime.internal.status.FakeStatuses;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claim preparation on real files, with an API server and a provider that a test has in hand. */
final class NodeUnderTest implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";

    final Path data;
    final Path cdi;
    final FakeClaims api = new FakeClaims();
    final FakeStatuses statuses = new FakeStatuses();
    final ManualLoop toCluster = new ManualLoop(); // nothing is sent before it advances
    final RecordingProvider provider;
    final List<DriverEvent> events = Collections.synchronizedList(new ArrayList<>());
    final ExecutorService executor = ShortLivedThreads.waiting("claim");
    LockFile locks;
    Journal journal;
    ClaimPreparation claims;
    Meters meters = Meters.none();
    boolean isSerialized;
    volatile Instant now = Instant.EPOCH; // for orphans
    Duration timeout = Duration.ofMillis(20);

    /** Makes the directories of a node; nothing is opened yet. */
    NodeUnderTest(Path directory, RecordingProvider provider) {
        this.provider = provider;
        this.data = directory.resolve("kubelet/plugins/" + DRIVER);
        this.cdi = directory.resolve("cdi");
        try {
            Files.createDirectories(data);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    NodeUnderTest start(String boot) {
        locks = LockFile.open(data.resolve("claims.lock"));
        journal = Journal.open(data.resolve("claims.journal"), boot, locks, meters);
        claims = new ClaimPreparation(context(), executor, uids -> journal.group(uids, timeout), () -> now);
        return this;
    }

    ClaimParts context() {
        return new ClaimParts(
                DRIVER,
                provider,
                new ProviderCalls(isSerialized ? locks : null),
                api,
                journal,
                locks,
                DevicePins.in(data),
                new CdiSpecs(cdi, DRIVER),
                reports(),
                () -> Optional.of(provider.inventory()),
                Optional::empty,
                Clock.systemUTC(),
                events::add,
                meters,
                data);
    }

    private ClaimReports reports() {
        ClaimReports.Parts parts = new ClaimReports.Parts(
                DRIVER, "node", data, ref -> Optional.empty(), statuses, List.of("v1beta1"), Clock.systemUTC());
        return new ClaimReports(parts, toCluster);
    }

    void restart(String boot) {
        stop();
        provider.calls.clear();
        start(boot);
    }

    /** Starts the node again and recovers its claims. */
    void recover(String boot) {
        provider.calls.clear();
        start(boot).claims.recover();
    }

    void stop() {
        journal.close();
        locks.close();
    }

    /** Waits for claims that are worked on: they write files. */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            executor.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        stop();
    }

    void allocate(ClaimRef ref, String... devices) {
        allocate(
                ref,
                Stream.of(devices)
                        .map(d -> new Result(DRIVER, "r/sub", "node", d, null, Map.of(), false, Set.of()))
                        .toArray(Result[]::new));
    }

    void allocate(ClaimRef ref, Result... results) {
        Map<String, String> classes = Map.of("r/sub", "gpu");
        String json = "{\"metadata\":{\"creationTimestamp\":\"2026-11-01T00:00:00Z\"}}";
        api.objects.put(ref, new ClaimObject(ref.uid(), new Allocation(List.of(results), List.of()), classes, json));
    }

    /** A result of this driver, of which some calls are skipped. */
    static Result result(String device, String... skipped) {
        return new Result(DRIVER, "r", "node", device, null, Map.of(), false, Set.of(skipped));
    }

    void deallocate(ClaimRef ref) {
        api.objects.put(ref, new ClaimObject(ref.uid(), null, Map.of(), "{}"));
    }

    /** Writes the kubelet's own file, with claims. */
    void kubeletHas(ClaimRef... refs) {
        kubeletState()
                .write(Stream.of(refs)
                        .map(ref -> "{\"ClaimUID\":\"%s\"}".formatted(ref.uid()))
                        .toArray(String[]::new));
    }

    KubeletStateFile kubeletState() {
        return KubeletStateFile.of(data.getParent());
    }

    /** Allocates a device to each of some claims, in order. */
    List<ClaimRef> allocateEach(int count) {
        List<ClaimRef> refs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ClaimRef ref = new ClaimRef("ns", "c" + i, "uid-" + i);
            refs.add(ref);
            allocate(ref, "gpu-" + i);
        }
        return refs;
    }

    PrepareOutcome prepare(ClaimRef ref) {
        return prepare(Duration.ofSeconds(20), List.of(ref)).get(ref);
    }

    Map<ClaimRef, PrepareOutcome> prepare(Duration limit, List<ClaimRef> refs) {
        return claims.prepare(refs, Instant.now().plus(limit), () -> false);
    }

    UnprepareOutcome unprepare(ClaimRef ref) {
        Instant deadline = Instant.now().plusSeconds(20);
        return claims.unprepare(List.of(ref.uid()), deadline).get(ref.uid());
    }

    /** Acts while another process works on a claim. */
    void whileBusy(ClaimRef ref, Runnable action) {
        LockFile.Held held = locks.claim(ref.uid(), () -> false);
        try {
            action.run();
        } finally {
            held.close();
        }
    }

    Phase phase(ClaimRef ref) {
        return journal.claim(ref.uid()).orElseThrow().phase();
    }

    Path spec(String uid) {
        return cdi.resolve("k8s." + DRIVER + "-claim_" + uid + ".json");
    }

    /** The UIDs of the claims that have a spec. */
    List<String> specs() throws IOException {
        if (!Files.exists(cdi)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(cdi)) {
            return files.map(file -> file.getFileName().toString())
                    .map(name -> name.replaceAll(".*claim_(.*)\\.json", "$1"))
                    .sorted()
                    .toList();
        }
    }

    /** The API server's claims; what a claim is read for can be made to wait or to fail. */
    static final class FakeClaims implements ClaimReader {

        final Map<ClaimRef, ClaimObject> objects = new ConcurrentHashMap<>();
        final AtomicInteger lists = new AtomicInteger();
        volatile Hook beforeRead = ref -> {};
        volatile @Nullable ClusterException failure;
        volatile @Nullable ClusterException listFailure;

        interface Hook {
            void run(ClaimRef ref) throws InterruptedException;
        }

        @Override
        public ClaimObject read(ClaimRef claim, Duration limit) {
            try {
                beforeRead.run(claim);
            } catch (InterruptedException e) {
                throw new DraException("interrupted", e);
            }
            fail(failure);
            return objects.entrySet().stream()
                    .filter(entry -> entry.getKey().namespace().equals(claim.namespace()))
                    .filter(entry -> entry.getKey().name().equals(claim.name()))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElseThrow(() -> new ClusterException.NotFound("no such claim"));
        }

        @Override
        public void readAll(Duration limit, BiConsumer<ClaimRef, ClaimObject> each) {
            lists.incrementAndGet();
            fail(failure);
            fail(listFailure);
            Map.copyOf(objects).forEach(each);
        }

        private static void fail(@Nullable ClusterException now) {
            if (now != null) {
                throw now;
            }
        }
    }
}
