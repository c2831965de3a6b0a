// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.runtime.ProgramFixture;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The command {@code maintenance} beside a driver that runs, crashes, and holds claims. */
@Tag("slow")
class MaintenanceIT {

    private static final String TAINT = TestDriver.NAME + "/maintenance";

    /** The command as the driver's program runs it, without the start of another JVM. */
    private static Ended maintenance(TestNode node, String... words) {
        List<String> args = new ArrayList<>(List.of("maintenance"));
        args.addAll(List.of(words));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(output, true, StandardCharsets.UTF_8);
        int status = ProgramFixture.run(TestDriver.NAME, node.place().values(), stream, args.toArray(String[]::new));
        return new Ended(status, output.toString(StandardCharsets.UTF_8));
    }

    private static boolean pause(Duration time) {
        LockSupport.parkNanos(time.toNanos()); // another process gives no event
        return false;
    }

    /** Looks until the driver has answered. */
    private static Ended awaitStatus(TestNode node, String text) {
        await(() -> maintenance(node, "status").output().contains(text), node::log);
        return maintenance(node, "status");
    }

    private static void await(BooleanSupplier condition, Supplier<String> otherwise) {
        long end = System.nanoTime() + TestNode.TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(otherwise).isLessThan(end);
            pause(Duration.ofMillis(100));
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
            TestDriver.reserve(node, claim, "web-0");
            assertThat(node.prepare(claim).complaint()).isEmpty();
            assertThat(maintenance(node, "status"))
                    .matches(ended -> ended.status() == 1)
                    .matches(ended -> ended.output().contains("Maintenance is off."));

            assertThat(maintenance(node, "on", "--timeout=0").status()).isEqualTo(1);
            node.awaitSlices(slices -> tainted(slices).size() == 8);
            Ended held = awaitStatus(node, "The taint is in the cluster");

            assertThat(held.status()).as(held.output()).isEqualTo(1);
            assertThat(held.output())
                    .contains("all devices of gpu.example.com", "The taint is in the cluster")
                    .contains("1 claim holds such devices:")
                    .contains("default/claim (pod web-0): gpu-0, gpu-1");
            assertThat(tainted(node.api().store().list("resourceslices")))
                    .hasSize(8)
                    .contains("gpu-0 NoSchedule", "gpu-7 NoSchedule");

            node.kill();
            node.start(DriverPages.OPTION, "--suspended=" + suspended);
            node.awaitRegistered();
            DriverPages pages = DriverPages.ofProcess(1, node);
            pages.awaitReady();
            assertThat(tainted(node.api().store().list("resourceslices"))).hasSize(8);
            assertThat(value(pages.scrape(), "dra4j_maintained_devices")).isEqualTo(8);
            assertThat(suspended).doesNotExist();
            assertThat(node.unprepare(claim).complaint()).isEmpty();

            Ended free = maintenance(node, "on", "--evict");

            assertThat(free.status()).as(free.output()).isZero();
            assertThat(free.output()).contains("No claim holds such a device.", "has released its hardware");
            assertThat(suspended).exists();
            assertThat(tainted(node.api().store().list("resourceslices")))
                    .hasSize(8)
                    .contains("gpu-0 NoExecute");
            assertThat(maintenance(node, "status").status()).isZero();

            assertThat(maintenance(node, "off").status()).isZero();

            node.awaitSlices(slices -> tainted(slices).isEmpty());
            pages.awaitReady();
            await(() -> !Files.exists(suspended), node::log);
        }
    }

    @Test
    void withoutADriverTheMaintenanceWaitsForIt() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Ended none = maintenance(node, "on");
            assertThat(none.status()).isEqualTo(1);
            assertThat(none.output()).contains("does not run on this node", "--driver-name");

            Path own = Files.createDirectory(node.place().plugins().resolve(TestDriver.NAME));
            Ended wrong = maintenance(node, "on", "--device=GPU-3");
            assertThat(wrong.status()).isEqualTo(2);
            assertThat(wrong.output()).contains("--device: \"GPU-3\" matches no name");
            Ended early = maintenance(node, "on", "--timeout=0", "--device=gpu-3,gpu-4");
            assertThat(early.status()).isEqualTo(1);
            assertThat(early.output()).contains("The driver has not seen it yet");

            node.start();
            node.awaitRegistered();
            node.awaitSlices(slices -> tainted(slices).equals(List.of("gpu-3 NoSchedule", "gpu-4 NoSchedule")));
            assertThat(awaitStatus(node, "The taint is in the cluster").status())
                    .isZero();
            Files.writeString(own.resolve("maintenance.json"), "{\"id\":"); // of a torn disk
            node.awaitSlices(slices -> tainted(slices).size() == 8);
            assertThat(node.log()).contains("counts as maintenance of all devices");
            assertThat(maintenance(node, "off").output()).contains("Maintenance is off");
            node.awaitSlices(slices -> !slices.isEmpty() && tainted(slices).isEmpty());
            assertThat(maintenance(node, "off").output()).contains("Maintenance was already off");
        }
    }
}
