// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;

/** Destroys GPU instances in the order that the hardware wants: first what is in them. */
final class Instances {

    private Instances() {}

    static void destroy(Nvml nvml, String gpu, GpuInstance instance) {
        for (MigDevice device : instance.devices()) {
            nvml.destroyCompute(gpu, instance.id(), device.computeInstance());
        }
        nvml.destroyInstance(gpu, instance.id());
    }
}
