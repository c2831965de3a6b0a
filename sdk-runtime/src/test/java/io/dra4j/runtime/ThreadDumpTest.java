// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.ProgramMain.ThreadDump;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ThreadDumpTest {

    @TempDir
    private Path folder;

    /** The file is a pipe, whose reader waits for the writer and its end. */
    @Test
    @Timeout(60)
    void sigusr2WritesTheStacksOfAllThreads() throws Exception {
        Path file = folder.resolve(ThreadDump.FILE);
        ThreadDump.onSignal(file, System.err);

        String script = "mkfifo $0 && kill -s SIGUSR2 $1 && timeout 30 cat $0";
        String own = Long.toString(ProcessHandle.current().pid());
        Process reader = new ProcessBuilder("bash", "-c", script, file.toString(), own).start();

        assertThat(reader.inputReader().lines())
                .anyMatch(line -> line.contains("ThreadDumpTest.sigusr2WritesTheStacksOfAllThreads("));
        assertThat(reader.waitFor()).isZero();
    }
}
