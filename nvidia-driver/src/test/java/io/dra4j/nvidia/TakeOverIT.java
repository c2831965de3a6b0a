// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoFiles;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node goes from NVIDIA's driver to this one with a claim held, and back: as processes. */
@Tag("slow") // each of its processes starts for itself
class TakeOverIT {

    private static final String GPU = "gpu.nvidia.com";
    private static final Predicate<RecordedRequest> LIST_OF_CLAIMS = Requests.lists("resourceclaims");

    @TempDir
    private Path folder;

    @AutoClose
    private TestNode node;

    private List<String> command;
    private Path directory;
    private KubeletClaim held;

    @BeforeEach
    void leaveAClaimOfNvidiasDriver() throws Exception {
        StandInNode boards = StandInNode.install(folder.resolve("node"), "h100-80");
        command = List.of(
                Ended.jdk("java"),
                "-XX:TieredStopAtLevel=1",
                "-jar",
                Path.of("target/dra4j-nvidia-driver.jar").toAbsolutePath().toString());
        node = new TestNode(
                GPU,
                with(
                        "--nvidia-driver-root=" + boards.root(),
                        "--sysfs-root=" + boards.sysfs(),
                        "--proc-root=" + boards.proc()));
        held = node.allocate("held", "gpu-0");
        directory = Files.createDirectory(node.place().plugins().resolve(GPU));
        String boot = Files.readString(boards.proc().resolve("sys/kernel/random/boot_id"));
        Files.write(checkpoint(), GoFiles.prepared(held.uid(), boards.state().uuid(0), boot.strip()));
        Files.writeString(spec("yaml"), "cdiVersion: 0.5.0\n");
    }

    private List<String> with(String... options) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(options));
        command = all;
        return all;
    }

    private Path checkpoint() {
        return directory.resolve(GoCheckpoint.FILE);
    }

    private Path spec(String form) {
        return node.place().cdi().resolve("k8s.gpu.nvidia.com-claim_%s.%s".formatted(held.uid(), form));
    }

    /** Runs a command of the program, with the driver's options and environment. */
    private Ended run(String word) throws Exception {
        List<String> all = new ArrayList<>(command);
        all.add(4, word);
        return Ended.of(node.place().values(), all);
    }

    @Test
    void aKilledTakeOverIsCompletedAndTheWayBackIsTheSame() throws Exception {
        byte[] before = Files.readAllBytes(checkpoint());
        node.proxy().inject(Fault.stall().on(LIST_OF_CLAIMS).times(1));
        node.start();
        node.proxy().await(TestNode.TIMEOUT, LIST_OF_CLAIMS);
        node.kill();
        assertThat(checkpoint()).hasBinaryContent(before);

        node.startRegistered();

        assertThat(checkpoint()).doesNotExist();
        assertThat(spec("yaml")).doesNotExist();
        assertThat(spec("json")).content().contains(held.uid() + "-gpu-0", "/dev/nvidia0");
        assertThat(run("export-checkpoint").output()).contains("The driver runs on this node");
        assertThat(checkpoint()).doesNotExist();
        node.terminate();

        Path kept = Files.createLink(directory.resolve("kept"), directory.resolve("claims.lock"));
        Ended exported = run("export-checkpoint");

        assertThat(exported.output()).contains("1 claims are in " + checkpoint());
        assertThat(exported.status()).isZero();
        assertThat(checkpoint()).hasBinaryContent(before);
        assertThat(spec("json")).doesNotExist();
        assertThat(spec("yaml")).content().contains(held.uid() + "-gpu-0");
        assertThat(directory.resolve("claims.journal.handed-over")).exists();
        assertThat(directory.resolve("claims.reserve")).doesNotExist();
        assertThat(run("export-checkpoint").status()).isOne();

        Files.move(kept, directory.resolve("claims.lock")); // as if it had been killed before the last step
        node.startRegistered();

        assertThat(node.unprepare(held).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
        assertThat(node.log()).doesNotContain("Journal corrupted");
    }

    @Test
    void aDriverThatCannotTakeOverDoesNotStartAndIgnoresOnRequest() throws Exception {
        Files.writeString(checkpoint(), "{\"v9\":{}}");
        node.start();

        assertThat(node.awaitExit()).isOne();
        assertThat(node.log()).contains("has neither version 1 nor 2", "kubectl drain node-1", "--take-over");

        assertThat(node.startRegistered("--take-over=ignore")).isTrue();
        assertThat(checkpoint()).hasContent("{\"v9\":{}}");
        assertThat(node.terminate()).isZero();
        Files.move(checkpoint(), Path.of(checkpoint() + ".unused"));
        assertThat(node.startRegistered()).isTrue();
        assertThat(node.unprepare(held).complaint()).as("a drain ends").isEmpty();
    }
}
