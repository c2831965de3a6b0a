// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BootIdTest {

    @TempDir
    Path proc;

    @Test
    void isReadBelowTheProcRootThatWasGiven() throws IOException {
        write("3f1c6f0e-7a1b-4b43-9d4e-0f6a4a5f2f11\n");

        assertThat(BootId.read(proc)).isEqualTo("3f1c6f0e-7a1b-4b43-9d4e-0f6a4a5f2f11");
    }

    @Test
    void thatIsMissingOrEmptyIsAnErrorThatNamesTheFile() throws IOException {
        assertThatThrownBy(() -> BootId.read(proc))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(proc + "/sys/kernel/random/boot_id");

        write(" \n");
        assertThatThrownBy(() -> BootId.read(proc))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("Empty boot id in " + proc);
    }

    private void write(String content) throws IOException {
        Path directory = Files.createDirectories(proc.resolve("sys/kernel/random"));
        Files.writeString(directory.resolve("boot_id"), content);
    }
}
