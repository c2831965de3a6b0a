// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.gates.NvidiaGate;
import io.dra4j.nvidia.install.OfferOptions;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.NvmlProblem;
import io.dra4j.nvidia.nvml.Reading;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Prints the slices that a node with some boards would publish, for autoscalers and simulators. It
 * needs no GPU and no cluster.
 *
 * <p>The exit status is 0, 1 if the devices can't be published, and 2 if the command line is wrong.
 */
@Command(
        name = "template",
        sortOptions = false,
        description = {
            "Prints the ResourceSlices that a node with some GPUs would publish, for autoscalers and"
                    + " simulators. It needs no GPU and no cluster.",
            "UUIDs and PCI addresses are placeholders. Properties of a real machine are left out: NUMA nodes,"
                    + " PCIe roots, NVLink and the addressing mode.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class TemplateMain implements Callable<Integer> {

    private static final int MOST = 64;
    private static final Path NO_SYSFS = Path.of("/nonexistent");

    @Spec
    private CommandSpec spec;

    @Option(names = "--board", order = 1, paramLabel = "NAME", required = true)
    private String board;

    @Option(names = "--count", order = 2, paramLabel = "N", defaultValue = "1")
    private int count;

    @Mixin
    private OfferOptions offers;

    @Option(names = "--installed-driver", order = 8, paramLabel = "VERSION")
    private @Nullable String driverVersion;

    @Option(names = "--cuda", order = 9, paramLabel = "VERSION")
    private @Nullable String cudaVersion;

    @Option(
            names = "--node-name",
            order = 10,
            paramLabel = "NAME",
            defaultValue = "template-node",
            description = {"The node, for the slices.", "Default: ${DEFAULT-VALUE}"})
    private String nodeName;

    @Option(
            names = {"-h", "--help"},
            order = 12,
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    @Override
    public Integer call() {
        CommandLine command = spec.commandLine();
        if (count < 1 || count > MOST) {
            throw new ParameterException(
                    command, "Invalid value for option '--count': %d is not between 1 and %d".formatted(count, MOST));
        }
        offers.gates().check();
        if (offers.gates().featureGates().isOn(NvidiaGate.PassthroughSupport)) {
            throw new DraException(
                    "A template has no GPUs for virtual machines, which depend on a machine's PCI bus; leave the feature gate PassthroughSupport out");
        }
        try {
            command.getOut().print(slices());
            command.getOut().flush();
            return 0;
        } catch (IllegalArgumentException e) {
            throw new DraException(String.valueOf(e.getMessage()), e);
        }
    }

    private String slices() {
        Board known = Board.named(board);
        Reading reading = known.reading(count, driverVersion, cudaVersion);
        NodeDevices devices = NodeDevices.of(reading, offers.settings(nodeName, NO_SYSFS));
        devices.notes().stream().map(NvmlProblem::reason).findFirst().ifPresent(TemplateMain::refuse);
        return header(known, reading) + new ProbeReport(reading, devices, nodeName).named();
    }

    private static void refuse(String reason) {
        throw new DraException(reason);
    }

    private String header(Board known, Reading reading) {
        return """
                # A node with %d x %s and NVIDIA's driver %s.
                # Placeholders: the node's name, the names of slices, UUIDs of zeros, and PCI addresses.
                # Left out, because only a real machine has them: numaNode, pcieRoot, nvlinkGroup, nvlinkClique,
                # addressingMode.
                """.formatted(count, known.productName(), reading.driverVersion());
    }
}
