// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.nvidia.gates.GateOptions;
import io.dra4j.nvidia.gates.NvidiaGate;
import io.dra4j.nvidia.inventory.NodeDevices;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that decide which devices are offered, for the driver and its commands. */
@Command(resourceBundle = "io.dra4j.nvidia.options")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class OfferOptions {

    @Option(
            names = "--dynamic-mig",
            order = 4,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "${env:DYNAMIC_MIG:-}",
            fallbackValue = "true",
            converter = GateOptions.OptionalBoolean.class)
    private @Nullable Boolean dynamicMig;

    @Mixin
    private GateOptions gates;

    public NodeDevices.Settings settings(String nodeName, Path sysfs) {
        boolean hasLists = gates.featureGates().isOn(NvidiaGate.DRAListTypeAttributes);
        return new NodeDevices.Settings(nodeName, sysfs, isDynamicMig(), gates.shares(), hasLists);
    }

    boolean isDynamicMig() {
        return dynamicMig == null ? gates.featureGates().isOn(NvidiaGate.DynamicMIG) : dynamicMig;
    }

    public GateOptions gates() {
        return gates;
    }
}
