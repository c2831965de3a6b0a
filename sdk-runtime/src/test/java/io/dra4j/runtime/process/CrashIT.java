// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.process.CrashNode.Kind;
import io.dra4j.runtime.process.CrashPoints.Moment;
import io.dra4j.runtime.process.CrashPoints.Step;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver's process dies at some real steps of a prepare and of an unprepare, and in the middle of each write.
 *
 * <p>All steps, in many orders and with all that can go wrong around them, are those of the simulation. These few show that
 * its disk tells the truth: {@code kills.csv}, with what a kill leaves before each step, is the same table for both. A kill
 * leaves what was written, synced or not.
 */
@Tag("slow")
class CrashIT {

    private static final Path KILLS = Path.of("src/test/resources/io/dra4j/runtime/process/kills.csv");
    private static final int ONE_STEP_IN = Boolean.getBoolean("dra4j.full") ? 1 : 3;

    @TempDir
    static Path folder;

    private static Path library;

    @BeforeAll
    static void build() throws Exception {
        library = CrashPoints.build(folder);
    }

    /** A row of the table. */
    private record Row(String call, long step, String name, String left) {

        static Row of(String line) {
            String[] cells = line.split(",", 5);
            return new Row(cells[0], Long.parseLong(cells[1]), cells[2], cells[4]);
        }
    }

    @Test
    void theDriverDiesAtStepsOfPrepareAndOfUnprepareAndNothingIsLostOrLeft() throws Exception {
        List<Callable<CrashNode>> tasks = List.of(CrashIT::beforeSteps, CrashIT::inWrites);
        CrashNode.inParallel(tasks).forEach(CrashNode::close);
    }

    private static CrashNode beforeSteps() throws Exception {
        CrashNode node = new CrashNode(library, Kind.PLAIN);
        node.startUnharmed();
        List<String> rows = Files.readAllLines(KILLS);
        for (int i = 1; i < rows.size(); i += ONE_STEP_IN) {
            before(node, Row.of(rows.get(i)), i);
        }
        node.assertGoodEnd();
        return node;
    }

    private static void before(CrashNode node, Row row, int number) throws Exception {
        KubeletClaim claim = node.testNode.allocate("before-" + number, "gpu-0", "gpu-1");
        boolean isPrepare = row.call.equals("prepare");
        if (!isPrepare) {
            node.assertPrepared(claim);
        }
        node.points.dieAt(row.step, Moment.BEFORE);
        call(node, claim, isPrepare);
        assertThat(node.died(row.step)).as("%s", row).isTrue();
        assertThat(node.points.steps().get((int) row.step - 1).name()).isEqualTo(row.name);
        node.startUnharmed();
        assertThat(left(node, claim)).as("%s", row).isEqualTo(row.left);
        recover(node, claim, number % 2 == 0);
    }

    private static void call(CrashNode node, KubeletClaim claim, boolean isPrepare) {
        if (isPrepare) {
            node.prepare(List.of(claim));
        } else {
            node.unprepare(List.of(claim));
        }
    }

    /** Returns the phase of the claim's record, and how many specs and temporary files it has. */
    private static String left(CrashNode node, KubeletClaim claim) throws IOException {
        String phase = Journal.read(node.journal, "any").claims().stream()
                .filter(record -> record.ref().uid().equals(claim.uid()))
                .map(record -> record.phase().name())
                .findFirst()
                .orElse("none");
        List<String> files = node.testNode.specs().stream()
                .filter(name -> name.contains(claim.uid()))
                .toList();
        long temporary = files.stream().filter(name -> name.endsWith(".tmp")).count();
        return "%s,%d,%d".formatted(phase, files.size() - temporary, temporary);
    }

    private static CrashNode inWrites() throws Exception {
        CrashNode node = new CrashNode(library, Kind.HARDWARE);
        node.startUnharmed();
        KubeletClaim first = node.testNode.allocate("first", "gpu-0", "gpu-1");
        node.points.dieAt(0, Moment.HALFWAY); // at no step: they are counted
        node.assertPrepared(first);
        List<Step> steps = node.points.steps();
        recover(node, first, true);
        for (Step step : steps) {
            if (step.call().equals("write") && !step.path().endsWith("claims.lock")) {
                KubeletClaim claim = node.testNode.allocate("in-" + step.number(), "gpu-0", "gpu-1");
                node.points.dieAt(step.number(), Moment.HALFWAY);
                node.prepare(List.of(claim));
                assertThat(node.died(step.number())).as("%s", step).isTrue();
                node.startUnharmed();
                recover(node, claim, step.number() % 2 == 0);
            }
        }
        assertThat(steps).extracting(Step::call).contains("write", "create", "fdatasync", "rename");
        node.assertGoodEnd();
        return node;
    }

    private static void recover(CrashNode node, KubeletClaim claim, boolean isPreparedAgain) throws Exception {
        node.points.pass();
        if (isPreparedAgain) {
            ClaimResult answer = node.assertPrepared(claim);
            String spec = Files.readString(node.specOf(claim));
            assertThat(node.assertPrepared(claim).wire()).isEqualTo(answer.wire());
            assertThat(node.specOf(claim)).hasContent(spec);
        }
        node.testNode.delete(claim);
        node.assertUnprepared(claim);
        node.assertNothingLeft();
    }
}
