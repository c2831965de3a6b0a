// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The driver's jar, started with an archive of its classes. */
final class DriverJar {

    static final Path PATH = Path.of("target/dra4j-nvidia-driver.jar").toAbsolutePath();

    static final JavaProgram PROGRAM = new JavaProgram(
            Path.of("target/archive"),
            JavaProgram.SHORT_LIVED,
            List.of(PATH.toString()),
            NvidiaDriverMain.class.getName());

    private DriverJar() {}

    /** The command without the driver's own options. */
    static synchronized List<String> command(Path folder) throws Exception {
        return PROGRAM.archived(command -> {
            StandInNode node = StandInNode.install(folder.resolve("archived"), "h100-80");
            try (TestContext context = context(command, node, "archive")) {
                KubeletClaim claim = context.claims().allocate(context.devices().one());
                context.calls().prepared(claim);
                context.calls().unprepared(claim);
                Instance driver = context.driver().current();
                driver.terminate();
                // The archive is written then: seconds of processor time, on a machine that is busy.
                assertThat(driver.awaitExit(Duration.ofMinutes(3))).isPresent();
            }
        });
    }

    /** A node with the driver, once it has published. */
    static TestContext context(List<String> command, StandInNode node, String name, String... options) {
        return context(command, Map.of(), List.of(), node, name, options);
    }

    /**
     * The same with an environment, and claims of a certain shape.
     *
     * @param claims files with manifests of claims and their classes; none for any shape
     */
    static TestContext context(
            List<String> command,
            Map<String, String> environment,
            List<Path> claims,
            StandInNode node,
            String name,
            String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--sysfs-root=" + node.sysfs());
        return open(command, environment, claims, node, name, all);
    }

    /** The same in a mount namespace, in which the kernel's files are where they are on a node. */
    static TestContext contextInNamespace(List<String> command, StandInNode node, String name, String... options) {
        List<String> entering = new ArrayList<>(List.of("unshare", "--mount", "--propagation", "private", "sh", "-c"));
        entering.add("mount --bind \"$0\" /sys && exec \"$@\"");
        entering.add(node.sysfs().toString());
        entering.addAll(command);
        return open(entering, Map.of(), List.of(), node, name, List.of(options));
    }

    private static TestContext open(
            List<String> command,
            Map<String, String> environment,
            List<Path> claims,
            StandInNode node,
            String name,
            List<String> options) {
        List<String> all = new ArrayList<>(command);
        all.add("--nvidia-driver-root=" + node.root());
        all.add("--proc-root=" + node.proc());
        all.addAll(options);
        String settings =
                "driver: {name: gpu.nvidia.com, process: {command: [the test has it]}, claims: %s}".formatted(claims);
        TestContext context = TestContext.open(
                SettingsReader.parse(settings, "the test", Map.of()),
                new ProcessDriver(all, environment, Duration.ofSeconds(60)),
                name);
        context.driver().start();
        context.awaitPools();
        return context;
    }
}
