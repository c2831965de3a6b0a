// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.nvml.PciAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The persistence mode of GPUs, in which nvidia-persistenced keeps a GPU open without users. What
 * can't be switched here is found among the users of the GPU.
 *
 * @param smi the program that switches it
 */
record Persistence(NvidiaSmi smi) {

    private static final Logger LOG = LoggerFactory.getLogger(Persistence.class);

    boolean isOn(PciAddress gpu, Deadline deadline) {
        try {
            return smi.isPersistent(gpu.text(), deadline.left());
        } catch (SmiException e) {
            LOG.atDebug().setCause(e).addKeyValue("device", gpu).log("Persistence mode unknown");
            return false;
        }
    }

    void set(PciAddress gpu, boolean isOn, Deadline deadline) {
        try {
            smi.setPersistent(gpu.text(), isOn, deadline.left());
        } catch (SmiException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("device", gpu)
                    .addKeyValue("on", isOn)
                    .log("Persistence mode of a GPU can't be switched");
        }
    }
}
