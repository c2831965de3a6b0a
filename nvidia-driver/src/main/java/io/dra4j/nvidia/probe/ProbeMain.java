// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import io.dra4j.nvidia.install.InstallOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Prints NVML's readings, and the devices that would be published. It needs no cluster and no root, and changes
 * nothing.
 *
 * <p>The exit status is 0, 1 if NVML can't be used or everything is left out, and 2 if the command line is wrong.
 */
@Command(
        name = "probe",
        sortOptions = false,
        description = {
            "Prints NVML's readings of this node's GPUs, and the devices that would be published.",
            "It needs no cluster and changes nothing. NVML reports the placements of MIG devices only"
                    + " to root: without root, these are listed as left out, with the reasons. With -o"
                    + " yaml, reasons go to standard error.",
            "The exit status is 1 if NVML can't be used, or if everything is left out.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ProbeMain implements Callable<Integer> {

    private static final int FAILURE = 1;

    @Spec
    private CommandSpec spec;

    @Mixin
    private InstallOptions install;

    @Option(
            names = "--node-name",
            order = 10,
            paramLabel = "NAME",
            defaultValue = "${env:NODE_NAME:-this-node}",
            description = {"The node, for the slices. [NODE_NAME]", "Default: ${DEFAULT-VALUE}"})
    private String nodeName;

    @Option(
            names = {"-o", "--output"},
            order = 11,
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = {"table, or yaml: the ResourceSlices themselves.", "Default: ${DEFAULT-VALUE}"})
    private ProbeReport.Format output;

    @Option(
            names = {"-h", "--help"},
            order = 12,
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    @Override
    public Integer call() {
        CommandLine command = spec.commandLine();
        install.gates().check();
        ProbeReport report = ProbeReport.of(install, nodeName);
        command.getOut().print(report.as(output));
        command.getOut().flush();
        if (output == ProbeReport.Format.yaml) {
            command.getErr().print(report.incomplete());
            command.getErr().flush();
        }
        return report.lacksAll() ? FAILURE : 0;
    }
}
