// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThreadDumpTest {

    @TempDir
    private Path folder;

    @Test
    void sigusr2WritesTheStacksOfAllThreads() throws Exception {
        Path file = folder.resolve(ThreadDump.FILE);
        ThreadDump.onSignal(file, System.err);
        try (WatchService changes = folder.getFileSystem().newWatchService()) {
            folder.register(changes, StandardWatchEventKinds.ENTRY_CREATE);

            String own = Long.toString(ProcessHandle.current().pid());
            assertThat(new ProcessBuilder("bash", "-c", "kill -s SIGUSR2 " + own)
                            .start()
                            .waitFor())
                    .isZero();

            while (!Files.exists(file)) {
                WatchKey change = changes.poll(30, TimeUnit.SECONDS);
                assertThat(change).as("something was written").isNotNull();
                change.reset();
            }
        }
        assertThat(file).content().contains("[main,5,main]", "sigusr2WritesTheStacksOfAllThreads");
    }
}
