// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Maintenance as its command requests it, of a driver that runs, crashes, and holds claims. */
@Tag("slow")
class MaintenanceIT {

    private static final String TAINT = TestDriver.NAME + "/maintenance";

    private static MaintenanceFiles files(TestNode node) {
        return new MaintenanceFiles(node.place().plugins().resolve(TestDriver.NAME));
    }

    /** Requests maintenance of all devices, as the command does. */
    private static Maintenance request(TestNode node, String effect) {
        Maintenance asked = new Maintenance(UUID.randomUUID().toString(), List.of("*"), effect, "now");
        files(node).write(asked);
        return asked;
    }

    /** Looks until the driver has answered. */
    private static void awaitAnswer(TestNode node, Maintenance asked, Predicate<Answer> answer) {
        await(node, () -> files(node).answer(asked).filter(answer).isPresent());
    }

    private static void await(TestNode node, BooleanSupplier condition) {
        long end = System.nanoTime() + TestNode.TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(node::log).isLessThan(end);
            LockSupport.parkNanos(100_000_000); // another process gives no event
        }
    }

    /** The devices that are kept from claims, with the effects. */
    private static List<String> tainted(List<JsonNode> slices) {
        List<String> tainted = new ArrayList<>();
        for (JsonNode slice : slices) {
            for (JsonNode device : slice.at("/spec/devices")) {
                for (JsonNode taint : device.path("taints")) {
                    assertThat(taint.path("key").asText()).isEqualTo(TAINT);
                    tainted.add(device.path("name").asText() + " "
                            + taint.path("effect").asText());
                }
            }
        }
        return tainted;
    }

    @Test
    void devicesAreOutOfUseOnceTheirClaimsHaveEndedAlsoAfterACrash() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Path suspended = node.place().root().resolve("suspended");
            node.start("--suspended=" + suspended);
            node.awaitRegistered();
            KubeletClaim claim = node.allocate("claim", "gpu-0", "gpu-1");
            assertThat(node.prepare(claim).complaint()).isEmpty();

            Maintenance held = request(node, "NoSchedule");
            awaitAnswer(node, held, answer -> answer.published() && !answer.suspended());

            assertThat(tainted(node.api().store().list("resourceslices")))
                    .hasSize(8)
                    .contains("gpu-0 NoSchedule", "gpu-7 NoSchedule");

            node.kill();
            node.start(DriverPages.option(node), "--suspended=" + suspended);
            node.awaitRegistered();
            DriverPages pages = DriverPages.of(node);
            pages.awaitReady();
            assertThat(tainted(node.api().store().list("resourceslices"))).hasSize(8);
            assertThat(value(pages.scrape(), "dra4j_maintained_devices")).isEqualTo(8);
            assertThat(suspended).doesNotExist();
            assertThat(node.unprepare(claim).complaint()).isEmpty();

            Maintenance evicting = request(node, "NoExecute");
            awaitAnswer(node, evicting, Answer::suspended);

            assertThat(suspended).exists();
            assertThat(tainted(node.api().store().list("resourceslices")))
                    .hasSize(8)
                    .contains("gpu-0 NoExecute");

            assertThat(files(node).remove()).isTrue();

            node.awaitSlices(slices -> tainted(slices).isEmpty());
            pages.awaitReady();
            await(node, () -> !Files.exists(suspended));
        }
    }
}
