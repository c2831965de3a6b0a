// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.process.CrashNode.Kind;
import io.dra4j.runtime.process.CrashPoints.Moment;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A disk that is full or read-only from some step of a call on: from the first, from the second and
 * so on until a call succeeds.
 */
@Tag("gate")
class DiskIT {

    @TempDir
    static Path folder;

    @AutoClose
    private static CrashNode node;

    @BeforeAll
    static void start() throws Exception {
        node = new CrashNode(CrashPoints.build(folder), Kind.PLAIN);
        node.startUnharmed();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = ".*_DISK")
    void aCallThatCannotBeWrittenDownFailsAndTheNextSucceedsWithoutARestart(Moment disk) throws Exception {
        int prepares = 0;
        while (prepareFails(prepares + 1, disk)) {
            prepares++;
        }
        int unprepares = 0;
        while (unprepareFails(unprepares + 1, disk)) {
            unprepares++;
        }
        System.out.printf("%s: prepare failed at %d steps, unprepare at %d%n", disk, prepares, unprepares);
        assertThat(prepares).isGreaterThan(4);
        assertThat(unprepares).isGreaterThan(2);
    }

    /** Returns whether the call had so many steps; those that failed are made good. */
    private static boolean prepareFails(int step, Moment disk) throws Exception {
        KubeletClaim claim = node.testNode.allocate("claim", "gpu-0");
        node.points.dieAt(step, disk);
        CallResult result = node.prepare(List.of(claim));
        boolean reached = passed(step);
        if (result.complaint().isEmpty()) {
            assertThat(node.specOf(claim)).exists();
        } else {
            assertThat(reached).as("%s: %s", disk, result).isTrue();
            node.assertPrepared(claim);
        }
        end(claim);
        return reached;
    }

    private static boolean unprepareFails(int step, Moment disk) throws Exception {
        KubeletClaim claim = node.testNode.allocate("claim", "gpu-0");
        node.assertPrepared(claim);
        node.points.dieAt(step, disk);
        CallResult result = node.unprepare(List.of(claim));
        boolean reached = passed(step);
        if (result.complaint().isPresent()) {
            assertThat(reached).as("%s: %s", disk, result).isTrue();
        }
        end(claim);
        KubeletClaim next = node.testNode.allocate("next", "gpu-0");
        node.assertPrepared(next);
        end(next);
        return reached;
    }

    /** Returns whether a call had so many steps; the disk is well from here on. */
    private static boolean passed(int step) throws Exception {
        boolean reached = node.points.steps().size() >= step;
        node.points.pass();
        return reached;
    }

    private static void end(KubeletClaim claim) throws Exception {
        node.assertUnprepared(claim);
        node.testNode.delete(claim);
        node.assertNothingLeft();
    }
}
