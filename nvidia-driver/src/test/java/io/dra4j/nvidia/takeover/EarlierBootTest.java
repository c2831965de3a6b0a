// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.standin.SharedMemory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints of no boot, on nodes whose clocks were set, and others. */
class EarlierBootTest {

    private static final Instant BOOTED = Instant.parse("2026-03-01T10:00:00Z");
    private static final String SPEC = "k8s.gpu.nvidia.com-claim_0b5c9d52-0001.";

    @TempDir
    private Path folder;

    @TempDir(factory = SharedMemory.class)
    private Path memory;

    private Path file;

    @BeforeEach
    void writeBeforeTheBoot() throws Exception {
        file = Files.writeString(folder.resolve("checkpoint.json"), "{}");
        Files.setLastModifiedTime(file, FileTime.from(BOOTED.minusSeconds(1)));
        Files.writeString(folder.resolve("stat"), "cpu 1\nbtime " + BOOTED.getEpochSecond() + "\n");
    }

    private boolean isEarlier(Path cdiRoot) {
        GoClaim claim = new GoClaim("0b5c9d52-0001", true, List.of(), List.of(), List.of(), false);
        GoClaim other = new GoClaim("0b5c9d52-0002", true, List.of(), List.of(), List.of(), false);
        return new EarlierBoot(file, folder, cdiRoot, "k8s.gpu.nvidia.com/claim")
                .of(List.of(other, claim))
                .isPresent();
    }

    @Test
    void isTheAgeOfTheFileWithoutASpec() throws Exception {
        Files.writeString(memory.resolve("k8s.gpu.nvidia.com-claim_0b5c9d52-0003.yaml"), "");
        assertThat(isEarlier(memory)).isTrue();
        assertThat(isEarlier(memory.resolve("none"))).isTrue();

        Files.setLastModifiedTime(file, FileTime.from(BOOTED));
        assertThat(isEarlier(memory)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"yaml", "json"})
    void aSpecThatARebootWouldHaveDeletedIsOfThisBoot(String ending) throws Exception {
        Files.writeString(memory.resolve(SPEC + ending), "");
        assertThat(isEarlier(memory)).isFalse();

        Files.delete(folder.resolve("stat"));
        assertThat(isEarlier(memory)).isFalse();
        assertThatThrownBy(() -> isEarlier(folder))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(folder.resolve("stat").toString());
    }

    @Test
    void aSpecOnADiskSaysNothing() throws Exception {
        assumeThat(Files.getFileStore(folder).type()).isNotEqualTo("tmpfs");
        Files.writeString(folder.resolve(SPEC + "yaml"), "");

        assertThat(isEarlier(folder)).isTrue();
    }
}
