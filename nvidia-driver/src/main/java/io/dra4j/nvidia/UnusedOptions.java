// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.nvidia.gates.GateOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options of NVIDIA's driver for what this one does not do, which gates refuse where it matters;
 * its chart gives them, and is known by one.
 */
final class UnusedOptions {

    private static final String MPS =
            "No effect: it is for the Deployments of MPS daemons, which are processes of the driver" + " here.";

    @Option(names = "--namespace", hidden = true, description = MPS + " [NAMESPACE]")
    private String namespace = "";

    @Option(
            names = "--image-name",
            hidden = true,
            description = "Turns --nvidia-metrics on, as NVIDIA's chart gives it. [IMAGE_NAME]")
    private String imageName = "";

    @Option(
            names = "--nvidia-metrics",
            order = 13,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "",
            fallbackValue = "true",
            converter = GateOptions.OptionalBoolean.class,
            description = {
                "Serve metrics by the names of NVIDIA's driver, nvidia_dra_*, next to those of this one."
                        + " [NVIDIA_METRICS]",
                "Default: true under NVIDIA's chart, which gives --image-name, and false otherwise"
            })
    private @Nullable Boolean nvidiaMetrics;

    boolean isWithNvidiaMetrics() {
        return nvidiaMetrics == null ? !imageName.isEmpty() : nvidiaMetrics;
    }

    @Option(names = "--image-pull-policy", hidden = true, description = MPS + " [IMAGE_PULL_POLICY]")
    private String imagePullPolicy = "";

    @Option(names = "--image-pull-secrets", hidden = true, description = MPS + " [IMAGE_PULL_SECRETS]")
    private String imagePullSecrets = "";

    @Option(names = "--service-account-name", hidden = true, description = MPS + " [SERVICE_ACCOUNT_NAME]")
    private String serviceAccountName = "";

    @Option(
            names = "--host-root",
            hidden = true,
            description = "No effect: GPUs are passed through to virtual machines by sysfs and procfs, which"
                    + " have options of their own. [HOST_ROOT]")
    private String hostRoot = "";
}
