// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import picocli.CommandLine.Option;

/**
 * Options of NVIDIA's driver for what this one does not do, which gates refuse where it matters.
 */
final class UnusedOptions {

    private static final String MPS =
            "No effect: it is for the Deployments of MPS daemons, which are processes of the driver" + " here.";

    @Option(names = "--namespace", hidden = true, description = MPS + " [NAMESPACE]")
    private String namespace = "";

    @Option(names = "--image-name", hidden = true, description = MPS + " [IMAGE_NAME]")
    private String imageName = "";

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
