// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.runtime.DriverOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every driver program, and how many GPUs to invent. */
final class FakeDriverOptions extends DriverOptions {

    @Spec private CommandSpec spec;
    private int deviceCount;

    @Option(
            names = "--num-devices",
            paramLabel = "N",
            defaultValue = "8",
            description = {"How many GPUs to offer. [NUM_DEVICES]", "Default: ${DEFAULT-VALUE}"})
    private void deviceCount(int count) {
        if (count < 0) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '--num-devices': " + count + " is less than 0");
        }
        deviceCount = count;
    }

    int deviceCount() {
        return deviceCount;
    }
}
