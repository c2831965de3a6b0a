// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.runtime.DriverOptions;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every driver program, and what hardware to invent. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class FakeDriverOptions extends DriverOptions {

    @Spec private CommandSpec spec;
    private int deviceCount;
    private int partitions;

    @Option(
            names = "--gpu-allow-multiple-allocations",
            order = 2,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description =
                    "Let several claims share a GPU, each with the memory and compute that it asks"
                            + " for. [GPU_ALLOW_MULTIPLE_ALLOCATIONS]")
    private boolean multipleAllocations;

    @Option(
            names = "--fault-file",
            order = 3,
            paramLabel = "FILE",
            description = {
                "A text file that says which GPUs fail, read again whenever it changes; lines are"
                        + " \"<device> NoSchedule|NoExecute|None <reason>\" to taint a GPU,"
                        + " \"<device> absent\" to unplug it, \"<device> unhealthy|unknown [message]\""
                        + " to report so, and \"<device> silent\" to report nothing more."
                        + " [FAULT_FILE]",
                "Default: no GPU ever fails"
            })
    private @Nullable Path faultFile;

    @Option(
            names = "--gpu-device-status",
            order = 4,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description =
                    "Report the GPUs of a claim in its status: UUID, model and driver version."
                            + " [GPU_DEVICE_STATUS]")
    private boolean deviceStatus;

    @Option(
            names = "--gpu-device-metadata",
            order = 5,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description =
                    "Give the containers of a claim a file with the attributes of its GPUs, as"
                            + " KEP-5304 has it. [GPU_DEVICE_METADATA]")
    private boolean deviceMetadata;

    @Option(
            names = "--binding-conditions",
            order = 6,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true",
            description =
                    "Let the scheduler wait for each GPU until this driver says that it is ready."
                            + " [BINDING_CONDITIONS]")
    private boolean bindingConditions;

    @Option(
            names = "--num-devices",
            paramLabel = "N",
            defaultValue = "8",
            description = {"How many GPUs to offer. [NUM_DEVICES]", "Default: ${DEFAULT-VALUE}"})
    private void deviceCount(int count) {
        deviceCount = checked("--num-devices", count, Integer.MAX_VALUE);
    }

    @Option(
            names = "--gpu-partitions",
            order = 1,
            paramLabel = "N",
            defaultValue = "0",
            description = {
                "Into how many partitions each GPU can be split; 0 to offer GPUs as a whole alone."
                        + " [GPU_PARTITIONS]",
                "Default: ${DEFAULT-VALUE}"
            })
    private void partitions(int count) {
        partitions = checked("--gpu-partitions", count, PartitionedGpus.MOST_PARTITIONS);
    }

    private int checked(String option, int count, int most) {
        if (count >= 0 && count <= most) {
            return count;
        }
        String problem = count < 0 ? " is less than 0" : " is more than " + most;
        throw new ParameterException(
                spec.commandLine(),
                "Invalid value for option '" + option + "': " + count + problem);
    }

    int deviceCount() {
        return deviceCount;
    }

    /** Returns into how many partitions each GPU can be split; 0 for none. */
    int partitions() {
        return partitions;
    }

    boolean multipleAllocations() {
        return multipleAllocations;
    }

    boolean deviceStatus() {
        return deviceStatus;
    }

    boolean deviceMetadata() {
        return deviceMetadata;
    }

    boolean bindingConditions() {
        return bindingConditions;
    }

    Optional<Path> faultFile() {
        return Optional.ofNullable(faultFile).filter(file -> !file.toString().isEmpty());
    }
}
