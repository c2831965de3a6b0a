// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.CrashLane.Kind;
import io.dra4j.conformance.CrashPoints.Moment;
import io.dra4j.conformance.CrashPoints.Step;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver's process dies at each step of preparing and of unpreparing: before it, after it, and
 * in the middle of each write. The steps are not known beforehand: the driver is killed at the
 * first, at the second and so on until a call survives.
 *
 * <p>A kill leaves what was written, synced or not; that the syncs are there is shown by the
 * journal's own tests.
 */
class CrashIT {

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");
    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");

    @TempDir static Path folder;
    private static Path library;

    @BeforeAll
    static void build() throws Exception {
        library = CrashPoints.build(folder);
        DriverArchive.get();
    }

    /** What is interrupted. */
    private enum Call {
        PREPARE,
        UNPREPARE
    }

    /** What the kubelet does next. */
    private enum Then {
        UNPREPARE,
        PREPARE_AGAIN
    }

    /** Kills at every step of one call, by one lane. */
    private static final class Enumeration implements Callable<Enumeration> {
        private final Kind kind;
        private final Call call;
        private final Map<String, Integer> hits = new TreeMap<>();
        private final List<Step> steps = new ArrayList<>();
        private int kills;
        private int number;

        Enumeration(Kind kind, Call call) {
            this.kind = kind;
            this.call = call;
        }

        @Override
        public Enumeration call() throws Exception {
            try (CrashLane lane = new CrashLane(library, kind)) {
                lane.startUnharmed();
                atAllSteps(lane, Moment.BEFORE, Then.UNPREPARE);
                atWrites(lane, Then.PREPARE_AGAIN);
                if (FULL) {
                    atAllSteps(lane, Moment.AFTER, Then.PREPARE_AGAIN);
                    atWrites(lane, Then.UNPREPARE);
                }
                if (NIGHTLY) {
                    atAllSteps(lane, Moment.BEFORE, Then.PREPARE_AGAIN);
                    atAllSteps(lane, Moment.AFTER, Then.UNPREPARE);
                }
                lane.assertGoodEnd();
                hits.putAll(lane.hits());
                kills = lane.kills();
            }
            return this;
        }

        private void atAllSteps(CrashLane lane, Moment moment, Then then) throws Exception {
            int step = 1;
            while (round(lane, step, moment, then)) {
                step++;
            }
            assertThat(step).as("steps of a call").isGreaterThan(4);
        }

        private void atWrites(CrashLane lane, Then then) throws Exception {
            for (Step step : List.copyOf(steps)) {
                if (step.call().equals("write")) {
                    assertThat(round(lane, step.number(), Moment.HALFWAY, then)).isTrue();
                }
            }
        }

        /** Returns whether the call had so many steps. */
        private boolean round(CrashLane lane, long step, Moment moment, Then then)
                throws Exception {
            KubeletClaim claim = lane.driver.allocate("claim-" + ++number, "gpu-0", "gpu-1");
            if (call == Call.UNPREPARE) {
                lane.assertPrepared(claim);
            }
            lane.dieAt(step, moment);
            List<KubeletClaim> claims = List.of(claim);
            var result = call == Call.PREPARE ? lane.prepare(claims) : lane.unprepare(claims);
            boolean died = lane.died(step, moment);
            if (died) {
                lane.startUnharmed();
            } else {
                assertThat(result.complaint()).isEmpty();
                steps.clear();
                steps.addAll(lane.steps());
                lane.pass();
            }
            recover(lane, claim, then);
            return died;
        }

        private void recover(CrashLane lane, KubeletClaim claim, Then then) throws Exception {
            if (then == Then.PREPARE_AGAIN) {
                ClaimAnswer answer = lane.assertPrepared(claim);
                String spec = Files.readString(lane.specOf(claim));
                assertThat(lane.assertPrepared(claim).wire()).isEqualTo(answer.wire());
                assertThat(lane.specOf(claim)).hasContent(spec);
            }
            lane.driver.deleteObject(claim);
            lane.assertUnprepared(claim);
            lane.assertNothingLeft();
            KubeletClaim next = lane.driver.allocate("next-" + number, "gpu-1", "gpu-0");
            lane.assertPrepared(next);
            lane.assertUnprepared(next);
            lane.driver.deleteObject(next);
        }

        void print() {
            System.out.printf(
                    "%s driver, %s: killed %d times, at %d points of %d steps%n",
                    kind, call, kills, hits.size(), steps.size());
            steps.forEach(step -> System.out.println("  " + step.number() + " " + step.name()));
        }
    }

    @Test
    void theDriverDiesAtEveryStepOfPrepareAndOfUnprepareAndNothingIsLostOrLeft() throws Exception {
        List<Enumeration> enumerations = new ArrayList<>();
        for (Kind kind : NIGHTLY ? Kind.values() : new Kind[] {Kind.FAKE}) {
            for (Call call : Call.values()) {
                enumerations.add(new Enumeration(kind, call));
            }
        }
        ExecutorService lanes = Executors.newFixedThreadPool(2);
        try {
            for (Future<Enumeration> done : lanes.invokeAll(enumerations)) {
                done.get().print();
            }
        } finally {
            lanes.shutdownNow();
        }
    }
}
