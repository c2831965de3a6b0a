// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.doctor.HostRoot;
import io.dra4j.runtime.internal.doctor.NodeDoctor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** The options of a driver program's command {@code doctor}, beside the program's own. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DoctorOptions {

    private static final String COMMAND = "doctor";

    @Option(
            names = "--host-root",
            order = -4,
            paramLabel = "DIR",
            description = {
                "The node's root directory as this program sees it: the container runtime's configuration"
                        + " is there. [HOST_ROOT]",
                "Default: / outside of a pod; in one with hostPID, that of the node's first process"
            })
    private @Nullable Path hostRoot;

    @Option(
            names = {"-o", "--output"},
            order = -3,
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools." + ProgramOptions.DEFAULT)
    private ReportFormat output;

    /** Returns whether a command line is one for it. */
    static boolean isFor(String[] args) {
        return args.length > 0 && args[0].equals(COMMAND);
    }

    /** Makes the command line of a driver that of its doctor, which takes all its options. */
    CommandLine addTo(CommandLine driver) {
        CommandSpec command = driver.getCommandSpec();
        CommandSpec own = CommandSpec.forAnnotatedObject(this);
        for (OptionSpec option : own.options()) {
            OptionSpec same = command.findOption(option.longestName());
            if (same != null) {
                command.remove(same); // one that the driver takes and does not use
            }
        }
        command.addMixin(COMMAND, own);
        command.name(command.name() + " " + COMMAND)
                .usageMessage()
                .description(
                        "Finds what keeps this node's devices from pods without an error, and says how to"
                                + " mend it. It takes the options that the driver runs with, reads, and"
                                + " changes nothing. Exit status: 0 if nothing is wrong, 1 if there are"
                                + " findings, 2 if there are none but a check could not look, or the"
                                + " command line is wrong.",
                        "");
        return driver;
    }

    /** Runs the checks of every driver's node, and the driver's own. */
    Report report(
            DriverOptions options,
            Map<String, String> environment,
            Function<ClusterApi, ? extends List<? extends Check>> own) {
        return new NodeDoctor(
                        options.kubeconfig().orElse(null),
                        options.driverName(),
                        options.nodeName(),
                        options.cdiRoot(),
                        options.kubeletPluginsDirectory(),
                        options.kubeletRegistrarDirectory(),
                        options.procRoot(),
                        HostRoot.of(given(), options.procRoot(), environment),
                        options.neededGates())
                .report(own);
    }

    private @Nullable Path given() {
        return hostRoot == null || hostRoot.toString().isEmpty() ? null : hostRoot;
    }

    String print(Report report) {
        return output.of(report);
    }
}
