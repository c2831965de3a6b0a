// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.nvidia.standin.Await;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramCallTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private Path program;

    @BeforeEach
    void copy() throws IOException {
        program = Files.copy(Path.of("/bin/true").toRealPath(), folder.resolve("program"));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    private OutputStream open() throws IOException {
        return Files.newOutputStream(program, StandardOpenOption.APPEND);
    }

    private ProgramCall run() throws IOException {
        return ProgramCall.run(new ProcessBuilder(program.toString()), "", LONG);
    }

    @Test
    void waitsForAFileThatIsStillOpenForWriting() throws Exception {
        FutureTask<ProgramCall> call = new FutureTask<>(this::run);
        Thread caller = new Thread(call);
        try (OutputStream writer = open()) {
            writer.flush();
            caller.start();
            Await.until("the pause", LONG, () -> caller.getState() == Thread.State.TIMED_WAITING);
        }

        assertThat(call.get().isSuccess()).isTrue();
    }

    @Test
    void keepsAnAnswerThatComesAfterWarnings() throws IOException {
        ProcessBuilder program = new ProcessBuilder("sh", "-c", "seq 1000; echo Default");
        assertThat(ProgramCall.run(program, "", LONG).output()).endsWith("Default");
    }

    @Test
    void saysThatAFileStaysOpen() throws IOException {
        try (OutputStream writer = open()) {
            writer.flush();
            assertThatThrownBy(this::run).isInstanceOf(IOException.class).hasMessageContaining("Text file busy");
        }
    }
}
