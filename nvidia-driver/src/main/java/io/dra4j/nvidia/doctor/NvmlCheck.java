// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.pci.PciFunction;
import java.util.List;

/**
 * Checks that NVML works with the kernel's driver, and reports GPUs.
 *
 * @param passthrough whether GPUs may be with virtual machines, where NVML does not see them
 */
record NvmlCheck(NodeReading node, boolean passthrough) implements Check {

    @Override
    public String id() {
        return "nvml";
    }

    @Override
    public Result look() {
        if (node.isForMachines()) {
            return Result.healthy("virtual machines have all GPUs");
        }
        if (!node.hasLibrary()) {
            throw new NotCheckedException("NVML is not found: driver-root");
        }
        try {
            int gpus = node.reading().present().size();
            List<PciFunction> bound = gpus == 0 && passthrough ? node.ofNvidiasDriver() : List.of();
            if (gpus > 0 || passthrough && bound.isEmpty()) {
                return Result.healthy(
                        "driver %s, %d GPU%s".formatted(node.reading().driverVersion(), gpus, gpus == 1 ? "" : "s"));
            }
            return new Result("", List.of(finding("NVML reports no GPU" + of(bound))));
        } catch (DraException e) {
            return new Result("", List.of(finding(String.valueOf(e.getMessage()))));
        }
    }

    private static String of(List<PciFunction> bound) {
        return bound.stream()
                .map(gpu -> gpu.address().text())
                .reduce((some, more) -> some + ", " + more)
                .map(all -> ", and on the PCI bus its driver has " + all)
                .orElse("");
    }

    private Finding finding(String what) {
        return new Finding(
                id(),
                Severity.ERROR,
                "NVML",
                what,
                "the driver publishes no GPU",
                List.of(
                        "nvidia-smi",
                        "cat /proc/driver/nvidia/version    # the kernel's driver: the same version as the library?",
                        "sudo dmesg | grep -i 'NVRM\\|Xid' | tail",
                        "# after an update of NVIDIA's packages: reboot the node, or unload and load the module"));
    }
}
