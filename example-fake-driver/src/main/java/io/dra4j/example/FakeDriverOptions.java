// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.runtime.DriverOptions;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every driver program, and of the hardware to simulate. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class FakeDriverOptions extends DriverOptions {

    private static final String PROFILE = "--device-profile";
    private static final String DEFAULT = "%nDefault: ${DEFAULT-VALUE}";

    @Spec
    private CommandSpec spec;

    int deviceCount;
    int partitions;
    int numaNodes;
    int coresPerNumaNode;
    int fabricDevices;

    @Option(
            names = PROFILE,
            order = -1,
            paramLabel = "gpu|cpu|net",
            defaultValue = "gpu",
            description = "The hardware to simulate: GPUs, NUMA nodes with their cores, or NICs. Options for"
                    + " other hardware have no effect. The default driver name is <profile>.example.com."
                    + " [DEVICE_PROFILE]"
                    + DEFAULT)
    DeviceProfile profile;

    @Option(
            names = "--gpu-allow-multiple-allocations",
            order = 2,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description = "Let several claims share a GPU, each with the memory and compute that it asks"
                    + " for. [GPU_ALLOW_MULTIPLE_ALLOCATIONS]")
    boolean multipleAllocations;

    @Option(
            names = "--fault-file",
            order = 3,
            paramLabel = "FILE",
            description = {
                "A text file that lists failed devices, read again whenever it changes; lines are"
                        + " \"<device> NoSchedule|NoExecute|None <reason>\" to taint one,"
                        + " \"<device> absent\" to unplug it, \"<device> unhealthy|unknown [message]\""
                        + " to report that health, and \"<device> silent\" to stop reporting."
                        + " [FAULT_FILE]",
                "Default: no device ever fails"
            })
    private @Nullable Path faultFile;

    @Option(
            names = "--gpu-device-status",
            order = 4,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description = "Report the GPUs of a claim in its status: UUID, model and driver version."
                    + " [GPU_DEVICE_STATUS]")
    boolean deviceStatus;

    @Option(
            names = "--gpu-device-metadata",
            order = 5,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description = "Give the containers of a claim a file with the attributes of its GPUs, as"
                    + " described in KEP-5304. [GPU_DEVICE_METADATA]")
    boolean deviceMetadata;

    @Option(
            names = "--binding-conditions",
            order = 6,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description = "Let the scheduler wait for each device until this driver reports it ready."
                    + " [BINDING_CONDITIONS]")
    boolean bindingConditions;

    @Option(
            names = "--net-device-status",
            order = 7,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description =
                    "Report the NICs of a claim in its status: interface, MAC and IP address." + " [NET_DEVICE_STATUS]")
    boolean networkStatus;

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=true|false",
            hidden = true,
            split = ",",
            description = "No effect: the gates of the community's driver are about its logging, and this"
                    + " one always logs with keys and values. [FEATURE_GATES]")
    private Map<LoggingGate, Boolean> gates = Map.of();

    private enum LoggingGate {
        ContextualLogging,
        LoggingAlphaOptions,
        LoggingBetaOptions,
        AllAlpha,
        AllBeta
    }

    @Option(
            names = "--num-devices",
            paramLabel = "N",
            defaultValue = "8",
            description = "How many GPUs or NICs to offer. [NUM_DEVICES]" + DEFAULT)
    private void deviceCount(int count) {
        deviceCount = checked("--num-devices", count, 0, Integer.MAX_VALUE);
    }

    @Option(
            names = "--gpu-partitions",
            order = 1,
            paramLabel = "N",
            defaultValue = "0",
            description = "How many partitions each GPU can be split into; 0 to offer only whole GPUs."
                    + " [GPU_PARTITIONS]"
                    + DEFAULT)
    private void partitions(int count) {
        partitions = checked("--gpu-partitions", count, 0, PartitionedGpus.MOST_PARTITIONS);
    }

    @Option(
            names = "--cpu-numa-nodes",
            order = 8,
            paramLabel = "N",
            defaultValue = "8",
            description = "How many NUMA nodes to offer. [CPU_NUMA_NODES]" + DEFAULT)
    private void numaNodes(int count) {
        numaNodes = checked("--cpu-numa-nodes", count, 0, Integer.MAX_VALUE);
    }

    @Option(
            names = "--cpus-per-numa-node",
            order = 9,
            paramLabel = "N",
            defaultValue = "4",
            description = "How many cores each NUMA node offers to claims. [CPUS_PER_NUMA_NODE]" + DEFAULT)
    private void coresPerNumaNode(int count) {
        coresPerNumaNode = checked("--cpus-per-numa-node", count, 1, Integer.MAX_VALUE);
    }

    @Option(
            names = "--fabric-devices",
            order = 10,
            paramLabel = "N",
            defaultValue = "0",
            description = "How many GPUs a fabric has that all Linux nodes can attach. The command controller publishes"
                    + " them, and the drivers on the nodes prepare them. [FABRIC_DEVICES]"
                    + DEFAULT)
    private void fabricDevices(int count) {
        fabricDevices = checked("--fabric-devices", count, 0, Integer.MAX_VALUE);
    }

    /**
     * Returns the profile of a command line, on which the driver's default name depends. It is parsed before everything
     * else; if it is invalid, parsing the rest fails.
     */
    static DeviceProfile profile(String[] commandLine) {
        ProfileAlone alone = new ProfileAlone();
        try {
            new CommandLine(alone).setUnmatchedArgumentsAllowed(true).parseArgs(commandLine);
        } catch (ParameterException e) {
            return DeviceProfile.gpu;
        }
        return alone.profile;
    }

    private static final class ProfileAlone {
        @Option(names = PROFILE, defaultValue = "${env:DEVICE_PROFILE:-gpu}")
        private DeviceProfile profile = DeviceProfile.gpu;
    }

    private int checked(String option, int count, int least, int most) {
        if (count >= least && count <= most) {
            return count;
        }
        String problem = count < least ? " is less than " + least : " is more than " + most;
        throw new ParameterException(
                spec.commandLine(), "Invalid value for option '" + option + "': " + count + problem);
    }

    @Override
    protected Set<String> ofConfigurations() {
        return Set.of(PROFILE);
    }

    Optional<Path> faultFile() {
        return Optional.ofNullable(faultFile).filter(file -> !file.toString().isEmpty());
    }
}
