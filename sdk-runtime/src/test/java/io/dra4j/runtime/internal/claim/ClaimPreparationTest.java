// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.PrepareOutcome.AnsweredDevice;
import io.dra4j.runtime.internal.claim.PrepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimPreparationTest {

    private static final String DRIVER = "gpu.example.com";
    private static final ClaimRef A = new ClaimRef("ns", "a", "uid-a");
    private static final ClaimRef B = new ClaimRef("ns", "b", "uid-b");

    @TempDir Path directory;

    private final RecordingProvider provider = new RecordingProvider();
    private final Map<ClaimRef, ClaimObject> objects = new ConcurrentHashMap<>();
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private LockFile locks;
    private Journal journal;
    private ClaimPreparation claims;

    @BeforeEach
    void start() {
        allocate(A, "gpu-0");
        allocate(B, "gpu-1");
        start("boot-1");
    }

    @AfterEach
    void stop() {
        journal.close();
        locks.close();
        executor.shutdownNow();
    }

    private void start(String boot) {
        locks = LockFile.open(directory.resolve("claims.lock"));
        journal = Journal.open(directory.resolve("claims.journal"), boot, locks);
        ClaimPreparation.Parts parts =
                new ClaimPreparation.Parts(
                        DRIVER,
                        provider,
                        (ref, deadline) -> {
                            return Optional.ofNullable(objects.get(ref))
                                    .orElseThrow(() -> new DraException("no such claim"));
                        },
                        journal,
                        new CdiSpecs(directory.resolve("cdi"), DRIVER),
                        NoReports.in(directory),
                        () -> Optional.of(provider.inventory()),
                        Clock.systemUTC());
        claims = new ClaimPreparation(parts, executor);
    }

    private void restart(String boot) {
        journal.close();
        locks.close();
        provider.calls.clear();
        start(boot);
    }

    private void allocate(ClaimRef ref, String... devices) {
        List<Result> results =
                Stream.of(devices)
                        .map(d -> new Result(DRIVER, "r/sub", "node", d, null, Map.of(), false))
                        .toList();
        objects.put(
                ref,
                new ClaimObject(ref.uid(), new Allocation(results, List.of()), Map.of(), "{}"));
    }

    private PrepareOutcome prepare(ClaimRef ref) {
        return claims.prepare(List.of(ref), in(Duration.ofSeconds(20))).get(ref);
    }

    private UnprepareOutcome unprepare(ClaimRef ref) {
        return claims.unprepare(List.of(ref), in(Duration.ofSeconds(20))).get(ref);
    }

    private static Instant in(Duration time) {
        return Instant.now().plus(time);
    }

    private List<String> specs() throws IOException {
        if (!Files.exists(directory.resolve("cdi"))) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory.resolve("cdi"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static String message(PrepareOutcome outcome) {
        assertThat(outcome).isInstanceOf(Failed.class);
        return ((Failed) outcome).message();
    }

    @Nested
    class Prepare {

        @Test
        void answersTheDevicesWithTheirBaseRequestsAndCdiDevices() throws IOException {
            PrepareOutcome outcome = prepare(A);

            assertThat(outcome)
                    .isEqualTo(
                            new Prepared(
                                    List.of(
                                            new AnsweredDevice(
                                                    List.of("r"),
                                                    "node",
                                                    "gpu-0",
                                                    List.of(
                                                            "k8s.gpu.example.com/claim=uid-a-gpu-0"),
                                                    null))));
            assertThat(specs()).containsExactly("k8s.gpu.example.com-claim_uid-a.json");
        }

        @Test
        void saysStartedBeforeTheProviderWorksAndPreparedAfterwards() {
            provider.onPrepare = (claim, progress) -> provider.calls.add("" + phase(A));

            prepare(A);

            assertThat(provider.calls).containsExactly("prepare uid-a", "STARTED");
            assertThat(phase(A)).isEqualTo(Phase.PREPARED);
        }

        @Test
        void repeatedAnswersTheSameWithoutTheProvider() {
            PrepareOutcome first = prepare(A);
            PrepareOutcome second = prepare(A);

            assertThat(second).isEqualTo(first);
            assertThat(provider.calls).containsExactly("prepare uid-a");
        }

        @Test
        void repeatedAfterARestartAnswersTheSameAndBringsTheSpecBack() throws IOException {
            PrepareOutcome first = prepare(A);
            restart("boot-1");
            Files.delete(directory.resolve("cdi/k8s.gpu.example.com-claim_uid-a.json"));

            assertThat(prepare(A)).isEqualTo(first);
            assertThat(provider.calls).isEmpty();
            assertThat(specs()).hasSize(1);
        }

        @Test
        void thatTheProviderRefusesIsUndoneAndLeavesNothing() throws IOException {
            provider.onPrepare =
                    (claim, progress) -> {
                        throw new PrepareException("the device is too hot");
                    };

            assertThat(message(prepare(A))).isEqualTo("the device is too hot");

            assertThat(provider.calls).containsExactly("prepare uid-a", "unprepare uid-a");
            assertThat(claims.held()).isEmpty();
            assertThat(specs()).isEmpty();
            provider.onPrepare = (claim, progress) -> {};
            allocate(B, "gpu-0");
            assertThat(prepare(B)).isInstanceOf(Prepared.class);
        }

        @Test
        void thatFailsWithAnyExceptionTellsTheOwnerWhereToLook() {
            provider.onPrepare =
                    (claim, progress) -> {
                        throw new IOException("secret path");
                    };

            assertThat(message(prepare(A)))
                    .isEqualTo("the driver could not prepare the claim; its log says why");
        }

        @Test
        void thatCannotBeUndoneKeepsTheDeviceUntilUnprepareSucceeds() {
            provider.onPrepare =
                    (claim, progress) -> {
                        throw new PrepareException("broken half-way");
                    };
            provider.onUnprepare =
                    claim -> {
                        throw new IOException("still broken");
                    };
            assertThat(message(prepare(A))).isEqualTo("broken half-way");

            allocate(B, "gpu-0");
            provider.onPrepare = (claim, progress) -> {};
            assertThat(message(prepare(B))).contains("gpu-0 is held by claim ns/a");
            provider.onUnprepare = claim -> {};
            assertThat(unprepare(A)).isInstanceOf(Unprepared.class);
            assertThat(prepare(B)).isInstanceOf(Prepared.class);
        }

        @Test
        void ofAClaimThatCannotBeReadSaysSoAndTouchesNothing() {
            objects.remove(A);

            assertThat(message(prepare(A))).isEqualTo("no such claim");
            assertThat(provider.calls).isEmpty();
        }

        @Test
        void ofABatchFailsClaimByClaim() {
            allocate(A, "no-such");

            Map<ClaimRef, PrepareOutcome> outcomes =
                    claims.prepare(List.of(A, B), in(Duration.ofSeconds(20)));

            assertThat(message(outcomes.get(A))).isEqualTo("pool node has no device no-such");
            assertThat(outcomes.get(B)).isInstanceOf(Prepared.class);
        }

        @Test
        void ofAnAnswerWithADeviceOfAnotherClaimIsRefusedAndUndone() {
            RecordingProvider confused =
                    new RecordingProvider() {
                        @Override
                        PreparedClaim answer(io.dra4j.api.claim.AllocatedClaim claim) {
                            PreparedClaim right = super.answer(claim);
                            return PreparedClaim.of(
                                    List.of(right.devices().get(0), right.devices().get(0)));
                        }
                    };
            ClaimPreparation.Parts parts =
                    new ClaimPreparation.Parts(
                            DRIVER,
                            confused,
                            (ref, deadline) -> objects.get(ref),
                            journal,
                            new CdiSpecs(directory.resolve("cdi"), DRIVER),
                            NoReports.in(directory),
                            () -> Optional.of(provider.inventory()),
                            Clock.systemUTC());
            claims = new ClaimPreparation(parts, executor);

            assertThat(message(prepare(A))).contains("not among the claim's, or twice: gpu-0");
            assertThat(confused.calls).containsExactly("prepare uid-a", "unprepare uid-a");
        }

        @Test
        void thatOutlastsTheDeadlineGoesOnAndIsJoinedByTheRetry() {
            CountDownLatch release = new CountDownLatch(1);
            provider.onPrepare = (claim, progress) -> release.await();

            PrepareOutcome late = claims.prepare(List.of(A), in(Duration.ofMillis(50))).get(A);
            assertThat(message(late)).contains("still works on the claim");

            release.countDown();
            assertThat(prepare(A)).isInstanceOf(Prepared.class);
            assertThat(provider.calls).containsExactly("prepare uid-a");
        }

        @Test
        void ofAClaimWhoseAllocationChangedUnpreparesTheOldOneFirst() {
            prepare(A);
            allocate(A, "gpu-1");

            assertThat(prepare(A)).isInstanceOf(Prepared.class);
            assertThat(provider.calls)
                    .containsExactly("prepare uid-a", "unprepare uid-a", "prepare uid-a");
        }
    }

    @Nested
    class AfterACrash {

        @Test
        void aStartedClaimIsUnpreparedWithItsLastProgressAndPreparedAfresh() {
            ProviderState state = new ProviderState(1, "{\"instance\":7}");
            record(Phase.STARTED, "boot-1", state);
            restart("boot-1");

            assertThat(prepare(A)).isInstanceOf(Prepared.class);

            assertThat(provider.calls).containsExactly("unprepare uid-a", "prepare uid-a");
            HeldClaim undone = provider.unprepared.get(0);
            assertThat(undone.phase()).isEqualTo(Phase.STARTED);
            assertThat(undone.beforeReboot()).isFalse();
            assertThat(undone.state()).isEqualTo(state);
        }

        @Test
        void progressIsDurableWhenRecordReturns() {
            ProviderState state = new ProviderState(1, "{\"instance\":7}");
            provider.onPrepare = (claim, progress) -> progress.record(state);
            prepare(A);
            restart("boot-1");

            assertThat(claims.held()).singleElement().extracting(HeldClaim::state).isEqualTo(state);
        }

        @Test
        void aClaimOfAnEarlierBootIsNotPreparedAnyMore() {
            prepare(A);
            restart("boot-2");

            assertThat(claims.held()).singleElement().matches(HeldClaim::beforeReboot);
            assertThat(prepare(A)).isInstanceOf(Prepared.class);
            assertThat(provider.calls).containsExactly("unprepare uid-a", "prepare uid-a");
            assertThat(provider.unprepared.get(0).beforeReboot()).isTrue();
        }

        @Test
        void devicesOfHeldClaimsStayRefusedToOthers() {
            prepare(A);
            restart("boot-1");
            allocate(B, "gpu-0");

            assertThat(message(prepare(B))).contains("is held by claim ns/a");
        }

        @Test
        void reconcileBringsBackLostSpecsAndRemovesOrphans() throws IOException {
            prepare(A);
            prepare(B);
            Path cdi = directory.resolve("cdi");
            Files.delete(cdi.resolve("k8s.gpu.example.com-claim_uid-a.json"));
            Files.copy(
                    cdi.resolve("k8s.gpu.example.com-claim_uid-b.json"),
                    cdi.resolve("k8s.gpu.example.com-claim_uid-c.json"));
            restart("boot-1");

            claims.reconcile();

            assertThat(specs())
                    .containsExactly(
                            "k8s.gpu.example.com-claim_uid-a.json",
                            "k8s.gpu.example.com-claim_uid-b.json");
        }

        @Test
        void reconcileAfterARebootRemovesTheSpecsOfTheEarlierBoot() throws IOException {
            prepare(A);
            restart("boot-2");

            claims.reconcile();

            assertThat(specs()).isEmpty();
        }

        private void record(Phase phase, String boot, ProviderState state) {
            prepare(A);
            ClaimRecord prepared = journal.claim("uid-a").orElseThrow();
            journal.put(new ClaimRecord(A, phase, boot, prepared.devices(), state, null));
        }
    }

    @Nested
    class Unprepare {

        @Test
        void leavesNothingAndNeedsNoObject() throws IOException {
            prepare(A);
            objects.remove(A);

            assertThat(unprepare(A)).isInstanceOf(Unprepared.class);

            assertThat(claims.held()).isEmpty();
            assertThat(specs()).isEmpty();
        }

        @Test
        void ofAnUnknownClaimSucceedsWithoutTheProviderAndRemovesItsSpec() throws IOException {
            prepare(A);
            journal.forget("uid-a");

            assertThat(unprepare(A)).isInstanceOf(Unprepared.class);

            assertThat(provider.calls).containsExactly("prepare uid-a");
            assertThat(specs()).isEmpty();
        }

        @Test
        void thatFailsKeepsTheClaimAndIsFinishedByTheRetry() throws IOException {
            prepare(A);
            provider.onUnprepare =
                    claim -> {
                        throw new PrepareException("busy");
                    };

            assertThat(unprepare(A)).isEqualTo(new UnprepareOutcome.Failed("busy"));
            assertThat(phase(A)).isEqualTo(Phase.UNPREPARING);

            provider.onUnprepare = claim -> {};
            assertThat(unprepare(A)).isInstanceOf(Unprepared.class);
            assertThat(claims.held()).isEmpty();
        }

        @Test
        void touchesNoOtherClaim() throws IOException {
            prepare(A);
            PrepareOutcome before = prepare(B);

            unprepare(A);

            assertThat(specs()).containsExactly("k8s.gpu.example.com-claim_uid-b.json");
            assertThat(prepare(B)).isEqualTo(before);
        }
    }

    private Phase phase(ClaimRef ref) {
        return journal.claim(ref.uid()).orElseThrow().phase();
    }
}
