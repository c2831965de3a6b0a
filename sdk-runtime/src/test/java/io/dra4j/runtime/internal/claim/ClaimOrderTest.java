// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.testkit.Scenarios;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of operations, of one claim and of claims that want one device. */
class ClaimOrderTest extends ScenarioNode {

    @BeforeEach
    void allocate() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
    }

    /** A claim is left as by a crash, or with an unprepare that is skipped; then claim b is allocated its device. */
    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "left" -> play("prepare a\nrecord a %s %s\nallocate b gpu-0".formatted(words[1], words[2]));
            case "skipping" -> {
                provider.hardware = List.of("GPU-x", "GPU-y"); // which no allocation names
                play("allocate a gpu-0 skipping %s NodeFeedResources\nprepare a\nallocate b gpu-0".formatted(words[1]));
            }
            default -> super.run(words, text);
        }
        if (words[0].matches("left|skipping")) {
            provider.calls.clear();
        }
    }

    @Scenarios("claim-order.txt")
    void claimsThatWantOneDeviceGetItInOrder(String scenario) throws Exception {
        play(scenario);
    }

    /** More than the threads that carry virtual ones. Who opens a pipe stalls until it is written, as with a dead disk. */
    @Test
    void filesThatStallKeepNoOtherClaimWaiting() throws Exception {
        int stalled = Runtime.getRuntime().availableProcessors() + 2;
        provider.devices = stalled + 1;
        List<ClaimRef> refs = node.allocateEach(stalled + 1);
        Files.createDirectories(node.cdi);
        for (ClaimRef ref : refs.subList(0, stalled)) {
            String pipe = node.spec(ref.uid()).toString();
            assertThat(new ProcessBuilder("mkfifo", pipe).start().waitFor()).isZero();
        }
        CountDownLatch prepared = new CountDownLatch(stalled);
        provider.onPrepare = (claim, context) -> prepared.countDown();
        var stalling = CompletableFuture.runAsync(() -> node.prepare(Duration.ofMinutes(1), refs.subList(0, stalled)));
        prepared.await();

        try {
            assertThat(node.prepare(refs.get(stalled))).isInstanceOf(Prepared.class);
        } finally {
            for (ClaimRef ref : refs.subList(0, stalled)) {
                try (var pipe = new RandomAccessFile(node.spec(ref.uid()).toFile(), "rw")) {
                    Files.delete(node.spec(ref.uid()));
                    pipe.write('\n');
                }
            }
            stalling.join();
        }
    }

    @Nested
    class Reading {

        @Test
        void isDoneForAllClaimsOfACallAtOnce() {
            CyclicBarrier both = new CyclicBarrier(2);
            node.api.beforeRead = ref -> {
                try {
                    both.await(20, TimeUnit.SECONDS);
                } catch (Exception e) {
                    throw new AssertionError("the other is not read meanwhile", e);
                }
            };

            var outcomes = node.prepare(Duration.ofSeconds(30), List.of(A, B));

            assertThat(outcomes.values()).hasOnlyElementsOfType(Prepared.class);
        }

        @Test
        void keepsNoUnprepareWaitingAndIsOvertakenByIt() throws Exception {
            node.prepare(A);
            CountDownLatch reading = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            node.api.beforeRead = ref -> {
                reading.countDown();
                release.await();
            };
            CompletableFuture<PrepareOutcome> late = CompletableFuture.supplyAsync(() -> node.prepare(A));
            reading.await();

            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);
            release.countDown();

            assertThat(message(late.get())).contains("unprepared while it was read");
            assertThat(node.claims.held()).isEmpty();
            assertThat(node.specs()).isEmpty();
        }

        @Test
        void thatTakesTooLongEndsTheCallBeforeTheKubeletDoes() {
            CountDownLatch release = new CountDownLatch(1);
            node.api.beforeRead = ref -> release.await();
            long begin = System.nanoTime();

            var outcomes = node.prepare(Duration.ofSeconds(4), List.of(A));

            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isBetween(Duration.ofMillis(2900), Duration.ofMillis(3900));
            assertThat(message(outcomes.get(A))).contains("still working on the claim");
            release.countDown();
        }
    }

    @Test
    void providersCanRecordProgressDuringTheirCallAlone() {
        AtomicReference<ClaimContext> kept = new AtomicReference<>();
        provider.onPrepare = (claim, context) -> kept.set(context);
        node.prepare(A);

        assertThatThrownBy(() -> kept.get().checkpoint(new ProviderState(1, "{}")))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("has ended");
        assertThat(node.claims.held().get(0).state()).isNull();
    }

    @Test
    void theKubeletsUnprepareJoinsNoneThatMayLeaveTheClaimAsItIs() {
        node.prepare(A);
        ClaimQueue queue = new ClaimQueue(node.executor);
        Unpreparation own = new Unpreparation(node.context(), queue, new LostClaims(node.context()));
        Deadline end = Deadline.in(Duration.ofSeconds(20), Instant::now);
        var sync = node.journal.group(Set.of(A.uid()), node.timeout);
        AtomicReference<CompletableFuture<?>> call = new AtomicReference<>();

        own.unprepareIfIdle(A.uid(), "", it -> call.getAndSet(own.submit(A.uid(), end, sync)) != null, end, end.left());

        assertThat(call.get().join()).isInstanceOf(Unprepared.class);
    }

    @Nested
    class AnAllocation {

        @Test
        void thatDiffersInCapacityAdministrationOrSubrequestIsAnother() {
            List<Result> variants = List.of(
                    result("r/sub", Map.of(), false),
                    result("r/other", Map.of(), false),
                    result("r/other", Map.of(), true),
                    result("r/other", Map.of("m", new Quantity("1")), true));
            for (Result variant : variants) {
                node.allocate(A, variant);
                assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
                assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            }

            assertThat(provider.calls.stream().filter("prepare uid-a"::equals)).hasSize(4);
            assertThat(provider.calls.stream().filter("unprepare uid-a"::equals))
                    .hasSize(3);
        }

        private Result result(String request, Map<String, Quantity> capacity, boolean admin) {
            return new Result(NodeUnderTest.DRIVER, request, "node", "gpu-0", null, capacity, admin, Set.of());
        }
    }

    @Nested
    class TwoProcesses {

        @AutoClose
        private NodeUnderTest other;

        @BeforeEach
        void makeTheOther() {
            other = new NodeUnderTest(directory, new RecordingProvider());
        }

        @Test
        void seeEachOthersClaimsAndGiveADeviceOnce() {
            other.start("boot-1");
            other.api.objects.putAll(node.api.objects);
            other.allocate(B, "gpu-0");

            PrepareOutcome first = node.prepare(A);
            assertThat(message(other.prepare(B))).contains("is held by another claim");
            assertThat(other.prepare(A)).isEqualTo(first);
            assertThat(other.provider.calls).isEmpty();
            assertThat(other.unprepare(A)).isInstanceOf(Unprepared.class);
            assertThat(node.claims.held()).isEmpty();
        }

        /** The pod ended, and the unprepare went to the other process. */
        @Test
        void beginNoPrepareWhoseCallerHasLeft() {
            other.start("boot-1");
            AtomicBoolean hasLeft = new AtomicBoolean();
            node.api.beforeRead = ref -> {
                hasLeft.set(true);
                assertThat(other.unprepare(A)).isInstanceOf(Unprepared.class);
            };

            var late = node.claims.prepare(List.of(A), Instant.now().plusSeconds(20), hasLeft::get);

            assertThat(message(late.get(A))).contains("started after the kubelet gave up on the call");
            assertThat(provider.calls).isEmpty();
            assertThat(other.claims.held()).isEmpty();
        }

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void workOnOneClaimAtATimeIfTheProviderIsSerialized(boolean stops) {
            node.isSerialized = true;
            other.isSerialized = true;
            node.restart("boot-1");
            other.start("boot-1");
            other.api.objects.putAll(node.api.objects);
            provider.onPrepare = (claim, context) -> {
                var outcome = other.prepare(Duration.ofMillis(500), List.of(B)).get(B);
                assertThat(message(outcome))
                        .isEqualTo("the driver is still working on the claim; the next try joins it");
                if (stops) {
                    other.claims.close();
                    assertThat(message(other.prepare(B))).contains("the driver is stopping");
                }
                assertThat(other.provider.calls).isEmpty();
            };

            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            assertThat(other.prepare(B)).isInstanceOf(stops ? Failed.class : Prepared.class);
            assertThat(other.provider.calls).hasSize(stops ? 0 : 1);
        }
    }

    /** Native code of a provider would hold up the claims on all virtual threads. */
    @Test
    void theProviderIsCalledOnThreadsOfTheOperatingSystem() {
        List<String> threads = new CopyOnWriteArrayList<>();
        provider.onPrepare =
                (claim, context) -> threads.add(Thread.currentThread().toString());
        provider.onUnprepare = claim -> threads.add(Thread.currentThread().toString());

        node.prepare(A);
        node.unprepare(A);

        assertThat(threads).hasSize(2).noneMatch(name -> name.startsWith("VirtualThread"));
    }
}
