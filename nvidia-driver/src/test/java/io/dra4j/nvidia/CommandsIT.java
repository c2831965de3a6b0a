// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of the driver's jar, alone as the README starts it, and next to a running driver. */
class CommandsIT {

    @TempDir
    private Path folder;

    private static Ended run(TestContext context, String... words) throws Exception {
        return run(context.place().values(), words);
    }

    private static Ended run(Map<String, String> environment, String... words) throws Exception {
        List<String> command = List.of(Ended.jdk("java"), "-jar", "target/dra4j-nvidia-driver.jar");
        return Ended.of(environment, command, words);
    }

    @Test
    void theJarProbesTheGpusOfTheNode() throws Exception {
        StandInNode node = StandInNode.install(folder, "t4");

        assertThat(run(Map.of(), "probe", "--nvidia-driver-root=" + node.root(), "--sysfs-root=" + node.sysfs())
                        .printed())
                .contains("Tesla T4")
                .doesNotContain("WARNING");
    }

    @Test
    @Tag("gate")
    void inMaintenanceTheDriverHasNoSessionOfNvml() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "l40s");
        try (TestContext context =
                DriverJar.context(DriverJar.command(folder), node, "maintenance", "--health-watch=always")) {
            long pid = context.driver().current().pid().orElseThrow();
            KubeletClaim claim = context.claims().allocate(context.devices().one());
            context.calls().prepared(claim);

            Ended held = run(context, "maintenance", "on", "--timeout=0");

            assertThat(held.status()).isEqualTo(1);
            assertThat(held.output()).contains("1 claim holds such devices:", claim.name());
            assertThat(node.administrator().reset(0)).isNotZero();
            context.calls().unprepared(claim);

            Ended free = run(context, "maintenance", "on");

            assertThat(free.status()).as(free.output()).isZero();
            assertThat(node.hasSession(pid)).isFalse();
            assertThat(node.administrator().reset(0)).isZero();
            assertThat(run(context, "maintenance", "off").status()).isZero();
        }
    }
}
