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
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every driver program, and of the hardware to simulate. */
@Command(resourceBundle = "io.dra4j.example.options")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class FakeDriverOptions extends DriverOptions {

    private static final String PROFILE = "--device-profile";

    @Spec
    private CommandSpec spec;

    int deviceCount;
    int partitions;
    int numaNodes;
    int coresPerNumaNode;
    int fabricDevices;

    @Option(names = PROFILE, order = -1, paramLabel = "gpu|cpu|net", defaultValue = "gpu")
    DeviceProfile profile;

    @Option(
            names = "--gpu-allow-multiple-allocations",
            order = 2,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    boolean multipleAllocations;

    @Option(names = "--fault-file", order = 3, paramLabel = "FILE")
    private @Nullable Path faultFile;

    @Option(
            names = "--gpu-device-status",
            order = 4,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    boolean deviceStatus;

    @Option(
            names = "--gpu-device-metadata",
            order = 5,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    boolean deviceMetadata;

    @Option(
            names = "--binding-conditions",
            order = 6,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    boolean bindingConditions;

    @Option(
            names = "--net-device-status",
            order = 7,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    boolean networkStatus;

    @Option(names = "--feature-gates", paramLabel = "NAME=true|false", hidden = true, split = ",")
    private Map<LoggingGate, Boolean> gates = Map.of();

    private enum LoggingGate {
        ContextualLogging,
        LoggingAlphaOptions,
        LoggingBetaOptions,
        AllAlpha,
        AllBeta
    }

    @Option(names = "--num-devices", paramLabel = "N", defaultValue = "8")
    private void deviceCount(int count) {
        deviceCount = checked("--num-devices", count, 0, Integer.MAX_VALUE);
    }

    @Option(names = "--gpu-partitions", order = 1, paramLabel = "N", defaultValue = "0")
    private void partitions(int count) {
        partitions = checked("--gpu-partitions", count, 0, PartitionedGpus.MOST_PARTITIONS);
    }

    @Option(names = "--cpu-numa-nodes", order = 8, paramLabel = "N", defaultValue = "8")
    private void numaNodes(int count) {
        numaNodes = checked("--cpu-numa-nodes", count, 0, Integer.MAX_VALUE);
    }

    @Option(names = "--cpus-per-numa-node", order = 9, paramLabel = "N", defaultValue = "4")
    private void coresPerNumaNode(int count) {
        coresPerNumaNode = checked("--cpus-per-numa-node", count, 1, Integer.MAX_VALUE);
    }

    @Option(names = "--fabric-devices", order = 10, paramLabel = "N", defaultValue = "0")
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
