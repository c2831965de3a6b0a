// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.tools.FakeNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node is looked at again before something is found on it. */
class NodeAuditTest {

    private static final Finding FINDING = new Finding("own", Severity.ERROR, "gpu-0", "what", "why", List.of("fix"));

    @TempDir
    private Path folder;

    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger pauses = new AtomicInteger();

    private FakeNode node;

    @BeforeEach
    void makeANode() throws IOException {
        Files.createDirectories(folder.resolve("kubelet/plugins/gpu.example.com"));
        Files.createDirectory(folder.resolve("cdi"));
    }

    /** Audits with a check that finds something in its first so many looks. */
    private Report audit(int found) {
        Check own = new Check() {
            @Override
            public String id() {
                return "own";
            }

            @Override
            public CheckResult look() {
                return looks.incrementAndGet() > found
                        ? CheckResult.healthy("nothing")
                        : new CheckResult("", List.of(FINDING));
            }
        };
        return audit(own);
    }

    private Report audit(Check... own) {
        return audit(Inventory::of, own);
    }

    private Report audit(Supplier<Inventory> inventory, Check... own) {
        try {
            node = new FakeNode(folder, inventory, own);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new NodeAudit(
                        node.with(folder.resolve("no-kubeconfig"), folder.resolve("cdi"), Map.of()),
                        node,
                        new TwoLooks(pauses::incrementAndGet))
                .report();
    }

    @Test
    void whatIsFoundTwiceIsAFinding() {
        assertThat(audit(2).findings()).containsExactly(FINDING);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void aHealthyNodeIsLookedAtOnce() {
        assertThat(audit(0).findings()).isEmpty();
        assertThat(pauses).hasValue(0);
        assertThat(audit(0).text())
                .contains("not checked  claim-gone", "no-kubeconfig")
                .contains("ok           own");
    }

    @Test
    void aProviderThatFailsInItsOwnWayKeepsNoOtherCheckFromRunning() {
        Supplier<Inventory> failing = () -> {
            throw new IllegalStateException("no library");
        };

        assertThat(audit(failing).text())
                .containsPattern("not checked +device-gone +java.lang.IllegalStateException: no library")
                .containsPattern("ok +journal-damaged");
    }

    @Test
    void ownChecksDoNotLookWithoutTheJournal() throws Exception {
        Files.delete(folder.resolve("kubelet/plugins/gpu.example.com"));

        assertThat(audit(2).text())
                .containsPattern("not checked +own +there is no directory")
                .containsPattern("not checked +claim-damaged +there is no directory");
        assertThat(looks).hasValue(0);
    }

    @Test
    void ownChecksHaveTheBootAndFindPodsByTheClaimsUid() {
        audit();

        assertThat(node.given).element(0).isEqualTo("boot-1");
        assertThat(node.given).element(1).asString().endsWith("| grep " + FakeNode.CLAIM.uid());
    }
}
