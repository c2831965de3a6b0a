// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static io.dra4j.conformance.mutants.BareBench.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.HealthWatch;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The fake driver behind a middleman, which lives and dies with it; what each fault changes is seen
 * by {@link MutantsCaughtIT}.
 */
class MiddlemanIT {

    private BareBench bench;

    @AfterEach
    void clear() {
        bench.close();
    }

    @Test
    void passesOnWhatTheFaultIsNotAboutAndTakesTheDriverAlongWhenItIsKilled() throws Exception {
        start("M-61a");
        KubeletClaim claim = bench.allocate("one", "gpu-0");
        prepare(claim);
        assertThat(Files.readString(bench.cdi.resolve(bench.specs().get(0))))
                .contains("\"containerEdits\":{}");
        try (HealthWatch health = bench.kubelet.watchHealth(DRIVER, HealthWatch.Version.V1ALPHA1)) {
            assertThat(health.await(report -> !report.devices().isEmpty(), BareBench.PATIENCE))
                    .as(() -> health.end() + "\n" + bench.log())
                    .isPresent();
        }
        ProcessHandle driver = bench.process().descendants().findFirst().orElseThrow();

        bench.kill();

        driver.onExit().get(BareBench.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        int before = bench.kubelet.events().size();
        bench.start();
        bench.awaitRegisteredAfter(before);
        assertThat(bench.unprepare(claim).complaint()).isEmpty();
        assertThat(bench.specs()).isEmpty();
        assertThat(bench.terminate()).isZero();
        assertThat(bench.registry).isEmptyDirectory();
    }

    private void start(String fault) throws Exception {
        bench = new BareBench(BareProgram.middleman(fault));
        bench.start("--fault-file", bench.root.resolve("faults").toString());
        bench.awaitRegistered();
    }

    private ClaimAnswer prepare(KubeletClaim claim) {
        var result = bench.prepare(claim);
        assertThat(result.answers()).as(bench::log).containsKey(claim.uid());
        return result.answers().get(claim.uid());
    }
}
