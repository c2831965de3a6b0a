// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.PciAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A named pipe lets a writer wait until somebody reads, as the kernel does. */
@Isolated
class KernelWritesTest {

    private static final PciAddress GPU = new PciAddress("0000:17:00.0");
    private static final PciAddress OTHER = new PciAddress("0000:27:00.0");
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(50);

    @TempDir
    private Path folder;

    private final KernelWrites writes = new KernelWrites();

    private static StepDeadline within(Duration timeout) {
        return new StepDeadline(timeout, System.nanoTime() + timeout.toNanos());
    }

    private Path pipe() throws Exception {
        Path pipe = folder.resolve("unbind");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        return pipe;
    }

    @Test
    void oneThatWaitsKeepsOthersOfTheDeviceAloneAndNoProcess() throws Exception {
        Path pipe = pipe();
        Path file = Files.writeString(folder.resolve("bind"), "");

        assertThat(writes.write(GPU, pipe, "a", within(SHORT))).isFalse();

        assertThat(writes.isAnyPending()).isTrue();
        assertThat(writes.settled(GPU, within(SHORT))).isFalse();
        assertThat(writes.write(GPU, file, "b", within(SHORT))).isFalse();
        assertThat(file).isEmptyFile();
        assertThat(writes.write(OTHER, file, "c", within(SOON))).isTrue();
        assertThat(file).hasContent("c");
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().equals("dra4j-vfio-" + GPU))
                .singleElement()
                .matches(Thread::isDaemon);
        assertThat(Files.readString(pipe)).isEqualTo("a");
        assertThat(writes.settled(GPU, within(SOON))).isTrue();
        assertThat(writes.isAnyPending()).isFalse();
        assertThat(writes.write(GPU, file, "d", within(SOON))).isTrue();
    }

    @Test
    void oneThatIsRefusedNamesTheFileAndTheReason() {
        Path missing = folder.resolve("none/unbind");

        assertThatThrownBy(() -> writes.write(GPU, missing, "0000:17:00.0\n", within(SOON)))
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("The kernel refuses to write \"0000:17:00.0\" to " + missing)
                .hasMessageContaining("dmesg");
        assertThat(writes.settled(GPU, within(Duration.ZERO))).isTrue();
    }
}
