// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.Ended;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runnable jar, started as the README starts it. */
class ProbeIT {

    private static final String JAR = "target/dra4j-nvidia-driver.jar";

    @TempDir
    private Path folder;

    @Test
    void theJarProbesTheGpusOfTheNode() throws Exception {
        StandInNode node = StandInNode.install(folder, "t4");
        List<String> command = List.of(Ended.jdk("java"), "-jar", JAR, "probe");

        assertThat(Ended.of(Map.of(), command, "--nvidia-driver-root=" + node.root(), "--sysfs-root=" + node.sysfs())
                        .printed())
                .contains("Tesla T4")
                .doesNotContain("WARNING");
    }
}
