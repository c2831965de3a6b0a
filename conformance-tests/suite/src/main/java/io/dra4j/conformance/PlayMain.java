// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.play.Play;
import io.dra4j.conformance.play.PlaySettings;
import io.dra4j.testkit.driver.ProcessSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code play}: manifests and a driver, for people to watch. */
@Command(
        name = "play",
        resourceBundle = "io.dra4j.conformance.play-options",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Play manifests with one driver or several: an embedded API server, a fake kubelet, and each driver in its own process, which is killed and started again.",
            ""
        },
        footer = {
            "",
            "A driver finds NODE_NAME, DRIVER_NAME, KUBECONFIG, CDI_ROOT, KUBELET_PLUGINS_DIRECTORY_PATH and KUBELET_REGISTRAR_DIRECTORY_PATH in its environment; in its command, {NAME} stands for the value.",
            "With several drivers, the names and the commands are in the same order:",
            "  play --driver-name=A --driver-name=B --manifests=DIR -- run-a -- run-b",
            "Exit status: 0 if every step passed, 1 if not, 3 if the command line is wrong."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class PlayMain implements Callable<Integer> {

    @Option(names = "--driver-name", paramLabel = "NAME", required = true)
    private List<String> driverNames;

    @Option(names = "--node-name", paramLabel = "NAME", defaultValue = "demo-node")
    private String nodeName;

    @Mixin
    private ReleaseOptions release;

    @Option(names = "--manifests", paramLabel = "DIR", required = true)
    private Path manifests;

    @Option(names = "--step-timeout", paramLabel = "SECONDS")
    private @Nullable Integer stepTimeoutSeconds;

    @Option(names = "--patience", hidden = true, description = "The old name of --step-timeout.")
    private @Nullable Integer patience;

    @Option(names = "--keep", arity = "0..1", paramLabel = "true|false")
    private boolean keep;

    @Option(names = "--standard-paths")
    private boolean standardPaths;

    @Option(names = "--in-cluster")
    private boolean inCluster;

    @Option(names = "--make-directory", paramLabel = "DIR")
    private List<String> directories = new ArrayList<>();

    @Parameters(
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "How to run the driver: a program and its arguments, after --; once for each driver.")
    private List<String> commands;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        PlaySettings settings = new PlaySettings(drivers(), nodeName, manifests, stepTimeout(), release.gates());
        try (Play play = new Play(settings, System.out)) {
            Runtime.getRuntime().addShutdownHook(new Thread(play::close, "dra4j-play-end"));
            boolean held = keep ? play.open() : play.run();
            if (keep && held) {
                new CountDownLatch(1).await(); // until a signal ends the JVM, whose shutdown hook ends the play
            }
            return held ? 0 : 1;
        }
    }

    Duration stepTimeout() {
        if (patience != null && stepTimeoutSeconds != null) {
            throw new ParameterException(spec.commandLine(), "--patience is the old name of --step-timeout: give one");
        }
        Integer seconds = patience == null ? stepTimeoutSeconds : patience;
        return Duration.ofSeconds(seconds == null ? 30 : seconds);
    }

    /** Returns the drivers in the order of their names, each with the command at the same position. */
    List<PlaySettings.Driver> drivers() {
        List<List<String>> separate = new ArrayList<>(List.of(new ArrayList<>()));
        for (String word : commands) {
            if (word.equals("--")) {
                separate.add(new ArrayList<>());
            } else {
                separate.get(separate.size() - 1).add(word);
            }
        }
        if (separate.size() != driverNames.size() || separate.contains(List.of())) {
            throw new ParameterException(
                    spec.commandLine(),
                    "There are %d names of drivers and %d commands; give each driver one, after --"
                            .formatted(driverNames.size(), separate.size()));
        }
        List<PlaySettings.Driver> drivers = new ArrayList<>();
        for (int i = 0; i < separate.size(); i++) {
            ProcessSettings process =
                    new ProcessSettings(separate.get(i), Map.of(), standardPaths, inCluster, directories);
            drivers.add(new PlaySettings.Driver(driverNames.get(i), process));
        }
        return drivers;
    }
}
