// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.TwoLooks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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

    @BeforeEach
    void makeANode() throws Exception {
        Path boot = folder.resolve("proc/sys/kernel/random/boot_id");
        Files.createDirectories(boot.getParent());
        Files.writeString(boot, "boot-1\n");
        Files.createDirectories(folder.resolve("kubelet/plugins/gpu.example.com"));
        Files.createDirectories(folder.resolve("cdi"));
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
        return audit((boot, held, pods) -> List.of(own)).report();
    }

    private NodeAudit audit(NodeAudit.OwnChecks own) {
        NodeAudit.Settings settings = new NodeAudit.Settings(
                "gpu.example.com",
                "node-1",
                folder.resolve("kubelet/plugins/gpu.example.com"),
                folder.resolve("cdi"),
                folder.resolve("proc"),
                folder.resolve("no-kubeconfig"));
        return new NodeAudit(settings, held -> Inventory.of(), own, new TwoLooks(pauses::incrementAndGet));
    }

    @Test
    void whatIsFoundTwiceIsAFinding() {
        assertThat(audit(2).findings()).containsExactly(FINDING);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void whatIsFoundOnceWasTheDriverAtWork() {
        assertThat(audit(1).findings()).isEmpty();
        assertThat(looks).hasValue(2);
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
    void ownChecksDoNotLookWithoutTheJournal() throws Exception {
        Files.delete(folder.resolve("kubelet/plugins/gpu.example.com"));

        assertThat(audit(2).text())
                .containsPattern("not checked +own +there is no directory")
                .containsPattern("not checked +claim-damaged +there is no directory");
        assertThat(looks).hasValue(0);
    }

    @Test
    void ownChecksHaveTheBootAndFindPodsByTheClaimsUid() {
        List<String> given = new ArrayList<>();
        ClaimRef claim = new ClaimRef("default", "train", "5f9b1c5e-0000-4000-8000-000000000001");
        audit((boot, held, pods) -> {
                    given.add(boot);
                    given.addAll(pods.apply(claim));
                    return List.of();
                })
                .report();
        assertThat(given).element(0).isEqualTo("boot-1");
        assertThat(given).element(1).asString().endsWith("| grep " + claim.uid());
    }
}
