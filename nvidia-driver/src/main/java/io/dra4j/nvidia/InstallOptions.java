// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.prepare.Roots;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where NVIDIA's driver is, and what is offered of its GPUs: what both programs need to know. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class InstallOptions {

    private static final Path USUAL_MOUNT = Path.of("/driver-root");

    @Option(
            names = "--nvidia-driver-root",
            order = 1,
            paramLabel = "DIR",
            defaultValue = "${env:NVIDIA_DRIVER_ROOT:-${env:HOST_DRIVER_ROOT:-/}}",
            description = {
                "The root of NVIDIA's driver on the node, which CDI specs name: / or"
                        + " /run/nvidia/driver. [NVIDIA_DRIVER_ROOT, or HOST_DRIVER_ROOT]",
                "Default: /"
            })
    private Path nvidiaDriverRoot;

    @Option(
            names = "--container-driver-root",
            order = 2,
            paramLabel = "DIR",
            defaultValue = "${env:CONTAINER_DRIVER_ROOT:-${env:DRIVER_ROOT_CTR_PATH:-}}",
            description = {
                "The same directory as this program sees it. [CONTAINER_DRIVER_ROOT, or"
                        + " DRIVER_ROOT_CTR_PATH]",
                "Default: /driver-root if it is there, and --nvidia-driver-root otherwise"
            })
    private Path containerDriverRoot;

    @Option(
            names = "--sysfs-root",
            order = 3,
            paramLabel = "DIR",
            defaultValue = "${env:SYSFS_ROOT:-/sys}",
            description = {"Where sysfs is mounted. [SYSFS_ROOT]", "Default: ${DEFAULT-VALUE}"})
    private Path sysfsRoot;

    @Option(
            names = "--dynamic-mig",
            order = 4,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "${env:DYNAMIC_MIG:-false}",
            fallbackValue = "true",
            description = {
                "Offer GPUs with all MIG devices that they could be divided into, and make them when"
                        + " a claim is prepared. Needs an API server that keeps shared counters: no"
                        + " such GPU is published without. [DYNAMIC_MIG]",
                "Default: ${DEFAULT-VALUE}"
            })
    private boolean dynamicMig;

    /**
     * Where the driver is as this program sees it.
     *
     * @throws DraException if the path is relative
     */
    DriverRoot here() {
        try {
            return new DriverRoot(path());
        } catch (IllegalArgumentException e) {
            throw new DraException(String.valueOf(e.getMessage()), e);
        }
    }

    private Path path() {
        if (!containerDriverRoot.toString().isEmpty()) {
            return containerDriverRoot;
        }
        return Files.isDirectory(USUAL_MOUNT) ? USUAL_MOUNT : nvidiaDriverRoot;
    }

    Roots roots(@Nullable Path dev, Path proc) {
        return new Roots(here().path(), nvidiaDriverRoot, dev, proc, sysfsRoot);
    }

    Path sysfsRoot() {
        return sysfsRoot;
    }

    boolean dynamicMig() {
        return dynamicMig;
    }
}
