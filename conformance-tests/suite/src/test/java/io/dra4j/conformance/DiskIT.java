// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.CrashPoints.Moment;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A disk that is full or read-only from some step of a call on: from the first, from the second and
 * so on until a call succeeds.
 */
@DisplayNameGeneration(RequirementNames.class)
class DiskIT {

    @TempDir static Path folder;
    private static NodeUnderTest node;
    private static CrashPoints points;

    @BeforeAll
    static void start() throws Exception {
        DriverUnderTest driver = new DriverUnderTest();
        points =
                new CrashPoints(
                        CrashPoints.build(folder),
                        driver.root,
                        driver.journal.getParent(),
                        driver.cdi);
        driver.environment.putAll(points.environment());
        node = new NodeUnderTest(driver);
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = ".*_DISK")
    @Tag("DRA-RST-07")
    void aCallThatCannotBeWrittenDownFailsAndTheNextSucceedsWithoutARestart(Moment disk)
            throws Exception {
        int prepares = 0;
        while (prepareFails(prepares + 1, disk)) {
            prepares++;
        }
        int unprepares = 0;
        while (unprepareFails(unprepares + 1, disk)) {
            unprepares++;
        }
        System.out.printf(
                "DRA-RST-07, %s: prepare failed at %d steps, unprepare at %d%n",
                disk, prepares, unprepares);
        assertThat(prepares).isGreaterThan(4);
        assertThat(unprepares).isGreaterThan(2);
    }

    /** Returns whether the call had so many steps; those that failed are made good. */
    private static boolean prepareFails(int step, Moment disk) throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        points.dieAt(step, disk);
        CallResult result = node.call(claim);
        boolean reached = points.steps().size() >= step;
        points.pass();
        if (result.complaint().isEmpty()) {
            assertThat(node.specOf(claim)).exists();
        } else {
            assertThat(reached).as("%s: %s", disk, result).isTrue();
            node.prepare(claim);
        }
        removeTemporaries();
        node.cleanUp();
        return reached;
    }

    /** What a read-only disk kept the driver from removing; a later start does it. */
    private static void removeTemporaries() throws Exception {
        for (String name : node.driver.specs()) {
            if (name.endsWith(".tmp")) {
                Files.delete(node.driver.cdi.resolve(name));
            }
        }
    }

    private static boolean unprepareFails(int step, Moment disk) throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim);
        points.dieAt(step, disk);
        CallResult result = node.driver.kubelet.unprepare(DRIVER, List.of(claim));
        boolean reached = points.steps().size() >= step;
        points.pass();
        if (result.complaint().isPresent()) {
            assertThat(reached).as("%s: %s", disk, result).isTrue();
        }
        node.cleanUp();
        node.prepare(node.allocate("gpu-0"));
        node.cleanUp();
        return reached;
    }
}
