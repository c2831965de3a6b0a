// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.process.CrashNode.Kind;
import io.dra4j.runtime.process.CrashPoints.Moment;
import io.dra4j.runtime.process.CrashPoints.Step;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver's process dies at each step of preparing and of unpreparing: before it, after it, and in the middle of
 * each write. The steps are not known beforehand: the driver is killed at the first, at the second and so on until a
 * call survives; without {@code dra4j.full} at every sixth step, because a start costs more than the rest of a round.
 *
 * <p>A kill leaves what was written, synced or not; that the syncs are there is shown by the journal's own tests.
 */
@Tag("slow")
@Tag("counts")
class CrashIT {

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");
    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");

    @TempDir
    static Path folder;

    private static Path library;

    @BeforeAll
    static void build() throws Exception {
        library = CrashPoints.build(folder);
    }

    /** The operation that is interrupted. */
    private enum Call {
        PREPARE,
        UNPREPARE
    }

    /** The kubelet's next call. */
    private enum Then {
        UNPREPARE,
        PREPARE_AGAIN
    }

    /** Kills at every step of one call, by one node. */
    private static final class Enumeration implements Callable<Enumeration> {
        private final Kind kind;
        private final Call call;
        private Map<String, Integer> hits = Map.of();
        private final List<Step> steps = new ArrayList<>();
        private int number;

        Enumeration(Kind kind, Call call) {
            this.kind = kind;
            this.call = call;
        }

        @Override
        public Enumeration call() throws Exception {
            try (CrashNode node = new CrashNode(library, kind)) {
                node.startUnharmed();
                atAllSteps(node, Moment.BEFORE, Then.UNPREPARE);
                atWrites(node, Then.PREPARE_AGAIN);
                if (FULL) {
                    atAllSteps(node, Moment.AFTER, Then.PREPARE_AGAIN);
                    atWrites(node, Then.UNPREPARE);
                }
                if (NIGHTLY) {
                    atAllSteps(node, Moment.BEFORE, Then.PREPARE_AGAIN);
                    atAllSteps(node, Moment.AFTER, Then.UNPREPARE);
                }
                node.assertGoodEnd();
                hits = node.hits;
            }
            return this;
        }

        private void atAllSteps(CrashNode node, Moment moment, Then then) throws Exception {
            int step = FULL || call == Call.PREPARE ? 1 : 2;
            while (round(node, step, moment, then)) {
                step += FULL ? 1 : 6;
            }
            assertThat(step).as("steps of a call").isGreaterThan(4);
        }

        private void atWrites(CrashNode node, Then then) throws Exception {
            for (Step step : List.copyOf(steps)) {
                if (step.call().equals("write")) {
                    assertThat(round(node, step.number(), Moment.HALFWAY, then)).isTrue();
                }
            }
        }

        /** Returns whether the call had so many steps. */
        private boolean round(CrashNode node, long step, Moment moment, Then then) throws Exception {
            KubeletClaim claim = node.testNode.allocate("claim-" + ++number, "gpu-0", "gpu-1");
            if (call == Call.UNPREPARE) {
                node.assertPrepared(claim);
            }
            node.points.dieAt(step, moment);
            List<KubeletClaim> claims = List.of(claim);
            var result = call == Call.PREPARE ? node.prepare(claims) : node.unprepare(claims);
            boolean died = node.died(step, moment);
            if (died) {
                node.startUnharmed();
            } else {
                assertThat(result.complaint()).isEmpty();
                steps.clear();
                steps.addAll(node.points.steps());
                node.points.pass();
            }
            recover(node, claim, then);
            return died;
        }

        private void recover(CrashNode node, KubeletClaim claim, Then then) throws Exception {
            if (then == Then.PREPARE_AGAIN) {
                ClaimResult answer = node.assertPrepared(claim);
                String spec = Files.readString(node.specOf(claim));
                assertThat(node.assertPrepared(claim).wire()).isEqualTo(answer.wire());
                assertThat(node.specOf(claim)).hasContent(spec);
            }
            node.testNode.delete(claim);
            node.assertUnprepared(claim);
            node.assertNothingLeft();
            KubeletClaim next = node.testNode.allocate("next-" + number, "gpu-1", "gpu-0");
            node.assertPrepared(next);
            node.assertUnprepared(next);
            node.testNode.delete(next);
        }

        void print() {
            System.out.printf(
                    "%s driver, %s: killed %d times, at %d points of %d steps%n",
                    kind,
                    call,
                    hits.values().stream().mapToInt(Integer::intValue).sum(),
                    hits.size(),
                    steps.size());
            steps.forEach(step -> System.out.println("  " + step.number() + " " + step.name()));
        }
    }

    @Test
    void theDriverDiesAtEveryStepOfPrepareAndOfUnprepareAndNothingIsLostOrLeft() throws Exception {
        List<Enumeration> enumerations = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            enumerations.add(new Enumeration(kind, Call.PREPARE));
            if (NIGHTLY || kind == Kind.PLAIN) {
                enumerations.add(new Enumeration(kind, Call.UNPREPARE));
            }
        }
        CrashNode.inParallel(enumerations).forEach(Enumeration::print);
    }
}
