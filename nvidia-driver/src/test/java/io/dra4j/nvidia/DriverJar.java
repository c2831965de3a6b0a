// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The driver's jar, started in half the time by an archive of its classes. */
final class DriverJar {

    private static final Path JAR = Path.of("target/dra4j-nvidia-driver.jar").toAbsolutePath();
    private static final Path ARCHIVE = Path.of("target/nvidia-driver.jsa").toAbsolutePath();
    private static final List<String> OPTIONS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static boolean archived;

    private DriverJar() {}

    /** The command without the driver's own options. */
    static synchronized List<String> command(Path folder) throws IOException {
        if (!archived) {
            archive(StandInNode.install(folder.resolve("archived"), "h100-80"));
            archived = true;
        }
        return java(
                List.of(
                        "-XX:SharedArchiveFile=" + ARCHIVE,
                        "-Xlog:cds=off",
                        "-Xlog:cds+dynamic=off"));
    }

    private static List<String> java(List<String> more) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(more);
        command.addAll(List.of("-jar", JAR.toString()));
        return command;
    }

    /** The options by which the driver finds a node. */
    static List<String> options(StandInNode node) {
        return List.of(
                "--nvidia-driver-root=" + node.root(),
                "--sysfs-root=" + node.sysfs(),
                "--proc-root=" + node.proc(),
                "--nvidia-cdi-hook-path=" + node.hook());
    }

    /** A JVM archives what it has loaded when it ends: after a claim. */
    private static void archive(StandInNode node) throws IOException {
        Path made = ARCHIVE.resolveSibling(UUID.randomUUID() + ".tmp"); // two JVMs may make one
        List<String> command = java(List.of("-XX:ArchiveClassesAtExit=" + made));
        command.addAll(options(node));
        try (TestContext context = context(command, "archive")) {
            KubeletClaim claim = context.claims().allocate(context.devices().one());
            context.calls().prepared(claim);
            context.calls().unprepared(claim);
            context.driver().terminate();
        }
        if (Files.exists(made)) {
            Files.move(made, ARCHIVE, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** A node with the driver, once it has published. */
    static TestContext context(List<String> command, String name) {
        String settings = "driver: {name: gpu.nvidia.com, process: {command: [the test has it]}}";
        TestContext context =
                TestContext.open(
                        SettingsReader.parse(settings, "the test", Map.of()),
                        new ProcessDriver(command, Map.of(), Duration.ofSeconds(60)),
                        name);
        context.driver().start();
        context.awaitPools();
        return context;
    }
}
