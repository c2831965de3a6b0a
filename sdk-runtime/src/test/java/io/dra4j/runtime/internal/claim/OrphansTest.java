// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OrphansTest extends NodeFixture {

    private static final ClaimRef A_AGAIN = new ClaimRef("ns", "a", "uid-z");

    private Orphans orphans;
    private final List<ClaimRef> read = new ArrayList<>();
    private Instant now = Instant.EPOCH;

    @BeforeEach
    void prepare() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
        node.prepare(A);
        node.prepare(B);
        provider.calls.clear();
        node.api.beforeRead = read::add;
        ClaimParts context = node.context();
        orphans = new Orphans(
                context, new Unpreparation(context, new ClaimQueue(node.executor), new LostClaims(context)), () -> now);
    }

    private void lookAfter(int minutes) {
        now = now.plus(Duration.ofMinutes(minutes));
        orphans.look();
    }

    @Test
    void aClaimThatIsGoneForTenMinutesIsUnpreparedAndNoOther() throws Exception {
        node.api.objects.remove(A);

        lookAfter(5);
        lookAfter(5);
        assertThat(provider.calls).as("absent for five minutes").isEmpty();
        lookAfter(5);

        assertThat(provider.calls).containsExactly("unprepare uid-a");
        assertThat(node.specs()).containsExactly("uid-b");
    }

    @Test
    void aClaimThatWasReplacedByAnotherOfItsNameIsGone() {
        node.api.objects.remove(A);
        node.allocate(A_AGAIN, "gpu-0");

        lookAfter(5);
        lookAfter(10);

        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    @Test
    void aClaimThatIsSeenBetweenIsNone() {
        var object = node.api.objects.remove(A);
        lookAfter(5);
        node.api.objects.put(A, object);
        lookAfter(5);
        node.api.objects.remove(A);
        lookAfter(5);
        lookAfter(5);

        assertThat(provider.calls).isEmpty();
    }

    @Test
    void readingsThatFailCountForNothing() {
        node.api.objects.remove(A);
        node.api.failure = new ClusterException("503", 503, null);
        lookAfter(5);
        lookAfter(30);
        node.api.failure = null;
        lookAfter(5);
        assertThat(provider.calls).as("the first reading that succeeded").isEmpty();
        node.api.failure = new ClusterException("404 page not found", 404, null);
        lookAfter(30);

        assertThat(provider.calls).as("a 404 that is not the API's").isEmpty();
    }

    @Test
    void aClaimThatTheKubeletNamesIsLeftToIt() throws Exception {
        node.kubeletHas(A);
        node.api.objects.remove(A);
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).isEmpty();
        assertThat(read).as("the kubelet will ask for the other").containsOnly(B);

        Files.delete(node.kubeletState().path());
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    private void holdOthers(int count) {
        for (int i = 0; i < count; i++) {
            ClaimRef other = new ClaimRef("ns", "other-" + i, "uid-other-" + i);
            node.journal.put(ClaimRecord.damaged(other, "boot-1", List.of()));
            node.allocate(other, "gpu-0");
        }
    }

    /** The kubelet's file can be of a MB, and a node hold a thousand claims. */
    @Test
    void theKubeletsFileIsReadOnceForAllClaims() throws Exception {
        holdOthers(98);
        Files.writeString(node.kubeletState().path(), "x".repeat(1 << 20));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        lookAfter(5);
        node.api.failure = new ClusterException("503", 503, null); // the first claim ends the look
        long before = threads.getCurrentThreadAllocatedBytes();
        lookAfter(5);

        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .as("bytes that a look at 100 claims allocates")
                .isLessThan(10 << 20);
    }

    @Test
    void theClaimThatAnotherIsRefusedForIsReadFirst() throws Exception {
        holdOthers(16);
        ClaimRef wants = new ClaimRef("ns", "wants", "uid-wants");
        node.allocate(wants, "gpu-0");
        assertThat(message(node.prepare(wants))).contains("gpu-0 is held by another claim");
        read.clear();
        CountDownLatch eight = new CountDownLatch(8);
        node.api.beforeRead = ref -> {
            read.add(ref);
            eight.countDown();
        };

        node.now = node.now.plus(Duration.ofMinutes(5));
        node.claims.maintain();

        assertThat(eight.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(read).hasSize(8).startsWith(A);
    }

    @Test
    void aClaimWhoseReadHadNoAnswerIsNotBehindTheOthers() {
        holdOthers(16);
        node.api.failure = new ClusterException("503", 503, null);
        lookAfter(5);
        node.api.failure = null;
        lookAfter(5);

        assertThat(read).hasSize(1 + 8);
        assertThat(read.subList(1, 9)).contains(read.get(0));
    }

    @Test
    void ofManyClaimsEightAreReadInFiveMinutesAndEachInItsTurn() {
        holdOthers(16);
        lookAfter(5);
        assertThat(read).hasSize(8).doesNotHaveDuplicates();
        lookAfter(5);
        assertThat(read).hasSize(16).doesNotHaveDuplicates();
        lookAfter(5);

        assertThat(read).hasSize(24);
        assertThat(Set.copyOf(read)).hasSize(18);
    }

    @Test
    void aClaimThatTheKubeletHasForgottenGoesAMinuteAfterItIsFoundDeallocated() {
        node.kubeletHas(B);
        node.deallocate(A);

        lookAfter(5);
        orphans.look();
        assertThat(provider.calls).as("one reading").isEmpty();
        lookAfter(1);

        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    @Test
    void aForgottenClaimThatIsAllocatedAgainStays() {
        node.kubeletHas(B);
        node.deallocate(A);
        lookAfter(5);
        node.allocate(A, "gpu-0");
        lookAfter(1);
        node.deallocate(A);
        lookAfter(4);

        assertThat(provider.calls).as("the first reading since").isEmpty();
    }

    @Test
    void aClaimThatIsNotAllocatedAnyMoreIsGoneAfterTenMinutesIfTheKubeletsFileCannotBeRead() {
        node.deallocate(A);

        lookAfter(5);
        lookAfter(5);
        assertThat(provider.calls).as("deallocated for five minutes").isEmpty();
        lookAfter(5);

        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    @Test
    void aClaimThatAnotherProcessWorksOnStays() {
        node.api.objects.remove(A);
        lookAfter(5);
        node.whileBusy(A, () -> lookAfter(10));

        assertThat(provider.calls).isEmpty();
    }

    @Test
    void aDamagedClaimIsGoneWhenItIsNotAllocatedAnyMore() {
        node.journal.put(ClaimRecord.damaged(A, "boot-1", List.of()));
        node.allocate(A, new Result[0]);

        lookAfter(5);
        lookAfter(10);

        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    @Test
    void aClaimWhoseUnprepareIsSkippedIsGoneWhenItIsNotAllocatedAnyMore() {
        node.unprepare(A);
        node.allocate(A, NodeUnderTest.result("gpu-0", "*"));
        node.prepare(A);
        provider.calls.clear();
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).isEmpty();

        node.allocate(A, new Result[0]);
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    @Test
    void aDamagedClaimKnownByItsUidAloneIsLookedForInAllNamespaces() {
        ClaimRef vague = new ClaimRef("unknown", "unknown", "uid-a");
        node.journal.put(ClaimRecord.damaged(vague, "boot-1", List.of()));
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).as("another name has the UID").isEmpty();

        node.api.objects.remove(A);
        lookAfter(5);
        lookAfter(10);
        assertThat(provider.calls).containsExactly("unprepare uid-a");
    }

    /** A kubelet that lost its state within a boot, and the devices of the claims that it forgot. */
    @Nested
    class ForgottenClaims {

        private static final ClaimRef C = new ClaimRef("ns", "c", "uid-c");

        @BeforeEach
        void forget() {
            node.api.beforeRead = ref -> {};
            node.unprepare(B);
            provider.calls.clear();
            node.kubeletHas(B);
            node.deallocate(A);
            node.allocate(B, "gpu-0");
        }

        private static Result device(String pool, String device) {
            return new Result(NodeUnderTest.DRIVER, "r/sub", pool, device, null, Map.of(), false, Set.of());
        }

        private enum Over {
            DEALLOCATED(node -> node.deallocate(A)),
            OF_ANOTHER_NODE(node -> node.allocate(A, device("other-node", "gpu-0"))),
            WITH_ANOTHER_DEVICE(node -> node.allocate(A, "gpu-1")),
            OF_ANOTHER_DRIVER(node -> node.allocate(
                    A, new Result("other.example.com", "r", "node", "gpu-0", null, Map.of(), false, Set.of()))),
            DELETED(node -> node.api.objects.remove(A)),
            REPLACED(node -> {
                node.api.objects.remove(A);
                node.allocate(new ClaimRef(A.namespace(), A.name(), "uid-z"), "gpu-0");
            });

            private final Consumer<NodeUnderTest> change;

            Over(Consumer<NodeUnderTest> change) {
                this.change = change;
            }
        }

        @ParameterizedTest
        @EnumSource
        void giveTheirDevicesToTheNextClaimWhenTheyAreOver(Over over) throws Exception {
            over.change.accept(node);

            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);

            assertThat(provider.calls).containsExactly("unprepare uid-a", "prepare uid-b");
            assertThat(node.specs()).containsExactly("uid-b");
        }

        @Test
        void giveTheirDevicesToOneClaimTogether() {
            node.allocate(C, "gpu-1");
            node.prepare(C);
            provider.calls.clear();
            node.deallocate(C);
            node.allocate(B, "gpu-0", "gpu-1");

            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);

            assertThat(provider.calls).containsExactly("unprepare uid-a", "unprepare uid-c", "prepare uid-b");
        }

        @Test
        void keepTheirDevicesWhileTheyAreAllocatedAnyOfThem() {
            node.allocate(A, "gpu-1", "gpu-0");

            requireRefused("is held by another claim (UID uid-a…)");
        }

        @Test
        void keepTheirDevicesIfTheApiServerDoesNotSay() {
            node.api.beforeRead = ref -> {
                if (ref.equals(A)) {
                    throw new ClusterException("GET resourceclaims/a: 503", 503, null);
                }
            };

            requireRefused("is held by another claim", "The kubelet has forgotten that claim", "resourceclaims/a: 503");
        }

        @Test
        void areNoneIfTheKubeletHasThemOrItsFileIsNotThereDamagedOrOfALaterVersion() throws Exception {
            AtomicInteger reads = new AtomicInteger();
            node.api.beforeRead = ref -> reads.addAndGet(ref.equals(A) ? 1 : 0);

            node.kubeletHas(A, B);
            requireRefused("is held by another claim");
            node.kubeletHas(B);
            Path file = node.kubeletState().path();
            Files.writeString(file, Files.readString(file).replace("uid-b", "uid-x"));
            requireRefused("is held by another claim");
            node.kubeletState().writeVersion("v2", "");
            requireRefused("is held by another claim");
            Files.delete(file);
            requireRefused("is held by another claim");

            assertThat(reads).as("requests for the claim that holds the device").hasValue(0);
        }

        /** The kubelet writes its file before it asks, and is answered from the journal. */
        @Test
        void areNoneAnyMoreWhenTheKubeletHasThemPreparedAgain() {
            node.api.beforeRead = ref -> {
                if (ref.equals(A)) {
                    node.kubeletHas(A, B);
                }
            };

            requireRefused("is held by another claim");
        }

        private void requireRefused(String... reasons) {
            assertThat(message(node.prepare(B))).contains(reasons);
            assertThat(provider.calls).isEmpty();
            assertThat(node.journal.claim(A.uid())).isPresent();
        }
    }
}
