// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.JavaProgram;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The options of the JVM that drivers are started with. */
class JvmOptionsTest {

    private static final List<String> OPTIONS =
            List.of("@" + Path.of("deploy/jvm.options").toAbsolutePath());

    private static final int OUT_OF_MEMORY = 3; // the JVM's own exit status

    @TempDir
    private Path folder;

    @Test
    void aProcessOutOfMemoryEnds() throws Exception {
        JavaProgram program = new JavaProgram(folder, OPTIONS, JavaProgram.ownClassPath(), MemoryEater.class.getName());
        Process process = new ProcessBuilder(program.command())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        try {
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("it has ended").isTrue();
            assertThat(process.exitValue()).isEqualTo(OUT_OF_MEMORY);
        } finally {
            process.destroyForcibly();
        }
    }

    /** A program one of whose threads needs more heap than there is, while another one waits. */
    private static final class MemoryEater {

        private MemoryEater() {}

        public static void main(String[] args) throws InterruptedException {
            new Thread(MemoryEater::eat).start();
            new CountDownLatch(1).await();
        }

        private static void eat() {
            List<byte[]> eaten = new ArrayList<>();
            while (true) {
                eaten.add(new byte[100_000]);
            }
        }
    }
}
