// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.nvidia.gates.GateOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Options of NVIDIA's driver for what this one does not do, which gates refuse where it matters;
 * its chart gives them, and is known by one.
 */
@Command(resourceBundle = "io.dra4j.nvidia.options")
final class UnusedOptions {

    @Option(names = "--namespace", hidden = true)
    private String namespace = "";

    @Option(names = "--image-name", hidden = true)
    private String imageName = "";

    @Option(
            names = "--nvidia-metrics",
            order = 13,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "",
            fallbackValue = "true",
            converter = GateOptions.OptionalBoolean.class)
    private @Nullable Boolean nvidiaMetrics;

    boolean isWithNvidiaMetrics() {
        return nvidiaMetrics == null ? !imageName.isEmpty() : nvidiaMetrics;
    }

    @Option(names = "--image-pull-policy", hidden = true)
    private String imagePullPolicy = "";

    @Option(names = "--image-pull-secrets", hidden = true)
    private String imagePullSecrets = "";

    @Option(names = "--service-account-name", hidden = true)
    private String serviceAccountName = "";

    @Option(names = "--host-root", hidden = true)
    private String hostRoot = "";
}
