// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.claim.LostClaims.DamagedDevices;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** Claims whose records or specs are gone or damaged. */
@Isolated
class LostClaimsTest extends ScenarioNode {

    @BeforeEach
    void prepare() {
        node.claims.recover();
        node.allocate(A, "gpu-0");
        node.prepare(A);
        node.allocate(B, "gpu-0");
    }

    @Scenarios("lost-claims.txt")
    void claimsWhoseRecordsOrSpecsAreLostKeepTheirDevices(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void namesInASpecAreReadBackIntoDevicesAndShares() {
        String share = "0f8fad5b-d9cb-469f-a165-70867728950e";

        assertThat(DamagedDevices.named(
                        "uid-a",
                        List.of("uid-a-gpu-0-" + share, "uid-a-gpu-1.1", "uid-ab-gpu-0"),
                        provider.inventory()))
                .extracting(d -> d.device() + " " + d.shareId())
                .containsExactly("gpu-0 " + share, "gpu-1 null");
    }

    /** CDI specs that vanish while the driver runs, of containers that the kubelet will start again. */
    @Nested
    class Specs {

        @RegisterExtension
        final LoggedEvents log = new LoggedEvents(SpecRepair.class, Level.WARN);

        @BeforeEach
        void prepareBoth() {
            node.allocate(B, "gpu-1");
            node.prepare(B);
            provider.calls.clear();
        }

        @Test
        @Timeout(20)
        void areWrittenAgainWhileTheUnprepareOfAnOrphanHangs() throws Exception {
            CountDownLatch hangs = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            provider.onUnprepare = claim -> {
                hangs.countDown();
                end.await();
            };
            node.api.objects.remove(A);
            while (!hangs.await(10, TimeUnit.MILLISECONDS)) {
                node.now = node.now.plus(Duration.ofMinutes(10));
                node.claims.maintain();
            }
            Files.delete(node.spec("uid-b"));

            node.claims.maintain();

            assertThat(node.specs()).contains("uid-b");
            end.countDown();
        }

        @Test
        void thatCannotBeWrittenAreReportedOnce() throws Exception {
            play("lose-spec b\nfolder ../../../cdi/k8s.gpu.example.com-claim_uid-b.json\nmaintain\nmaintain");
            assertThat(log.list).hasSize(1);
        }

        @Test
        void ofAClaimThatIsWorkedOnAreLeftToThatWork() throws IOException {
            Files.delete(node.spec("uid-a"));

            node.whileBusy(A, node.claims::maintain);
            assertThat(node.specs()).containsExactly("uid-b");
            assertThat(log.list).isEmpty();
            node.claims.maintain();

            assertThat(node.specs()).containsExactly("uid-a", "uid-b");
            assertThat(log.list).hasSize(1);
        }
    }
}
