// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.NativeLibrary;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.MpsStandIn;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims that share GPUs and MIG devices by MPS, with stand-ins that record their calls. */
@Tag("slow")
@EnabledIf(
        value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
        disabledReason = "MPS daemons need root, and the right to mount")
class MpsTest extends ProviderOnBoards {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String READY = "mps get_default_active_thread_percentage";
    private static final String MIG = "gpu-0-mig-1g5gb-19-4";

    @Override
    void installed() throws Exception {
        mps = MpsStandIn.install(node);
    }

    @Test
    void givesContainersTheSocketsAndTheMemoryOfTheDaemon() throws Exception {
        install("l40s");

        PreparedClaim prepared = claims.prepare(provider, shared(ONE, "", "gpu-0"));

        ContainerEdits edits = prepared.devices().get(0).edits();
        assertThat(edits.env()).containsEntry("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps");
        Path memory = mounted(edits, "/dev/shm");
        assertThat(isMounted(memory)).isTrue();
        assertThat(memory.resolve("cuda.shm.stand-in")).exists();
        assertThat(Files.getPosixFilePermissions(memory)).isEqualTo(PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(mounted(edits, "/tmp/nvidia-mps").resolve("control")).exists();
        assertThat(Files.getPosixFilePermissions(memory.getParent()))
                .isEqualTo(PosixFilePermissions.fromString("rwx--x--x"));
    }

    @Test
    void servesClientsOfAnyUser() throws Exception {
        install("l40s");
        mps.serve(1000);

        claims.prepare(provider, shared(ONE, "", "gpu-0"));

        Path log = groups().get(0).resolve("log/server.log");
        assertThat(Files.getAttribute(log, "unix:uid")).isEqualTo(1000);
        assertThat(Files.getAttribute(log.getParent(), "unix:mode"))
                .as("a directory in which users can't replace the files of others")
                .isEqualTo(041777);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                .as("the driver's directory, which no other user can list")
                .isEqualTo("rwx-----x");
    }

    @ParameterizedTest
    @CsvSource({"1, true", "0, false"})
    void labelsWhatContainersShareWhereSelinuxIsEnforced(String enforce, boolean isLabelled) throws Exception {
        install("l40s");
        Path selinux = Files.createDirectories(node.sysfs().resolve("fs/selinux"));
        Files.writeString(selinux.resolve("enforce"), enforce);

        ContainerEdits edits = claims.prepare(provider, shared(ONE, "", "gpu-0"))
                .devices()
                .get(0)
                .edits();

        for (String path : List.of("/dev/shm", "/tmp/nvidia-mps")) {
            assertThat(label(mounted(edits, path))).isEqualTo(isLabelled ? LABEL : "");
        }
    }

    private static String label(Path directory) {
        byte[] label = new byte[100];
        NativeLibrary.getInstance("c")
                .getFunction("getxattr")
                .invokeInt(new Object[] {directory.toString(), "security.selinux", label, (long) label.length});
        return new String(label, StandardCharsets.US_ASCII).strip().replace("\0", "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[NOT SUPPORTED]"})
    void restoresTheDefaultIfTheRecordedModeIsNone(String recorded) throws Exception {
        install("l40s");
        claims.prepare(provider, shared(ONE, "", "gpu-0"));
        String load = node.options().installation(node.proc()).moduleLoad();
        Files.write(folder.resolve("compute-modes").resolve(gpu0), List.of(load, recorded));

        claims.unprepare(provider, ONE);

        assertNothingIsLeft();
        assertThat(claims.notices).singleElement().asString().contains("had answered \"" + recorded + "\": DEFAULT");
    }

    private static Path mounted(ContainerEdits edits, String containerPath) {
        Mount mount = edits.mounts().stream()
                .filter(one -> one.containerPath().equals(containerPath))
                .findFirst()
                .orElseThrow();
        assertThat(mount.options()).containsExactly("rw", "nosuid", "nodev", "bind");
        return Path.of(mount.hostPath());
    }

    @Test
    void findsTheLibrariesOfTheDriverAloneAndHasALogOfItsOwn() throws Exception {
        install("l40s");
        Files.writeString(node.library().resolveSibling("libc.so.6"), "another C library");

        claims.prepare(provider, shared(ONE, "", "gpu-0"));

        assertThat(mps.libraries().resolve("libcuda.so.1")).exists();
        assertThat(mps.libraries().resolve("libc.so.6")).doesNotExist();
        Path log = groups().get(0).resolve("daemon.log");
        new ProcessBuilder("truncate", "--size=8G", log.toString()).start().waitFor();
        mps.processes().forEach(ProcessHandle::destroyForcibly);
        Await.until("a new log", SOON, () -> Files.size(log) < 1000);
    }

    @Test
    void aGroupThatWaitsHoldsUpNoOther() throws Exception {
        install("a100-40");
        claims.timeout = Duration.ofSeconds(15);
        mps.hangAt("mps -f " + gpu0);
        CompletableFuture<Void> waiting =
                CompletableFuture.runAsync(() -> claims.prepare(provider, shared(ONE, "", "gpu-0")));
        Await.until("a daemon", SOON, () -> !mps.processes().isEmpty());

        claims.prepare(provider, shared(TWO, "", "gpu-1"));
        claims.unprepare(provider, TWO);

        assertThat(waiting).isNotDone();
        mps.processes().forEach(ProcessHandle::destroyForcibly);
        assertThatThrownBy(waiting::join).hasMessageContaining("ended with exit code 137");
        assertNothingIsLeft();
    }
}
