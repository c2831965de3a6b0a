// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.StandInNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runnable jar, started as the README starts it. */
class ProbeIT {

    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final String JAR = "target/dra4j-nvidia-driver.jar";

    @TempDir
    private Path folder;

    @Test
    void theJarProbesTheGpusOfTheNode() throws Exception {
        StandInNode node = StandInNode.install(folder, "t4");
        Process probe = new ProcessBuilder(
                        JAVA.toString(),
                        "-jar",
                        JAR,
                        "probe",
                        "--nvidia-driver-root=" + node.root(),
                        "--sysfs-root=" + node.sysfs())
                .redirectErrorStream(true)
                .start();

        assertThat(output(probe)).contains("Tesla T4").doesNotContain("WARNING");
        assertThat(probe.waitFor()).isZero();
    }

    private static String output(Process process) throws Exception {
        try (InputStream output = process.getInputStream()) {
            return new String(output.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
