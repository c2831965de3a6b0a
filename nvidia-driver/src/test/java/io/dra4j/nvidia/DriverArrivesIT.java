// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A node that starts without NVIDIA's driver, which arrives when the pods of before have gone, as a package below the
 * root, or as GPU Operator's driver container.
 */
@Tag("slow")
class DriverArrivesIT {

    private static final String GPU = "gpu.nvidia.com";
    private static final String OPERATOR = "/run/nvidia/driver";
    private static final String UNREADABLE = "could not read its inventory";

    @TempDir
    private Path folder;

    @AutoClose
    private TestNode node;

    private StandInNode boards;
    private Path away;

    private void install(boolean isOperators) throws Exception {
        boards = StandInNode.install(folder.resolve("node"), "l40s");
        away = boards.folder().resolve("away");
        List<String> command = new ArrayList<>(DriverJar.command(folder));
        command.add("--nvidia-driver-root=" + (isOperators ? OPERATOR : boards.root()));
        command.add("--container-driver-root=" + boards.root());
        command.add("--sysfs-root=" + boards.sysfs());
        command.add("--proc-root=" + boards.proc());
        command.add("--http-endpoint=127.0.0.1:{FREE_PORT}");
        command.addAll(List.of("-v", "4")); // also repeated failures
        node = new TestNode(GPU, command);
    }

    private KubeletClaim held() throws Exception {
        node.startRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
        KubeletClaim held = node.allocate("held", "gpu-0");
        assertThat(node.prepare(held).complaint()).isEmpty();
        assertThat(node.terminate()).isZero();
        return held;
    }

    /** One of the nodes was rebooted: its claim is of an earlier boot. */
    @ParameterizedTest
    @CsvSource({"false, true", "true, false"})
    void theProcessThatUnpreparesTheClaimsPublishesTheDevices(boolean isOperators, boolean isRebooted)
            throws Exception {
        install(isOperators);
        KubeletClaim held = held();
        if (isRebooted) {
            assertThat(boards.unload()).isZero();
            Files.writeString(boards.proc().resolve("sys/kernel/random/boot_id"), "another\n");
        }
        List<JsonNode> slices = node.api().store().list("resourceslices");
        Files.move(boards.root(), away);

        assertThat(node.startRegistered()).isTrue();

        assertThat(node.unprepare(held).complaint()).isEmpty();
        KubeletClaim next = node.allocate("next", "gpu-0");
        assertThat(node.prepare(next).complaint().orElseThrow()).contains("No NVIDIA driver below " + boards.root());
        assertWaits(slices);
        Files.move(away, boards.root());
        if (isRebooted) {
            boards.load(StandInNode.VERSION);
        }
        node.pages().await("/readyz", answer -> answer.statusCode() == 200);
        assertThat(node.api().store().list("resourceslices").toString()).contains("gpu-3");
        assertThat(node.prepare(next).complaint()).isEmpty();
        assertThat(Files.readString(node.place().cdi().resolve(node.specs().get(0))))
                .contains((isOperators ? OPERATOR : boards.root()) + "/usr/lib/x86_64-linux-gnu/libcuda.so.");
        assertThat(node.terminate()).as("the same process").isZero();
        assertThat(node.log()).contains("can read its inventory again");
    }

    private long failures(String level) {
        return node.log()
                .lines()
                .filter(line -> line.contains(level) && line.contains(UNREADABLE))
                .count();
    }

    private void assertWaits(List<JsonNode> slices) throws Exception {
        Await.until("further tries", TestNode.TIMEOUT, () -> failures(" DEBUG ") > 1);
        assertThat(failures(" ERROR ")).as("reasons").isOne();
        assertThat(node.pages().get("/startupz").statusCode()).isEqualTo(200);
        assertThat(node.pages().get("/healthz").statusCode()).isEqualTo(200);
        assertThat(node.pages().get("/readyz").statusCode()).isEqualTo(503);
        assertThat(node.pages().get("/readyz").body()).contains("No NVIDIA driver below");
        assertThat(node.api().store().list("resourceslices")).isEqualTo(slices);
        node.proxy().awaitAll(TestNode.TIMEOUT, all -> all.stream().anyMatch(Requests.creates("events")));
        assertThat(node.api().store().list("events").toString())
                .contains("InventoryUnreadable", "No NVIDIA driver below");
    }
}
