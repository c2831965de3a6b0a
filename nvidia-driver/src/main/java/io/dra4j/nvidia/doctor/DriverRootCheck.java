// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.nio.file.Path;
import java.util.List;

/**
 * Checks that NVIDIA's driver is below the driver root.
 *
 * @param root the driver root, as this program sees it
 */
record DriverRootCheck(Path root, NodeReading node) implements Check {

    @Override
    public String id() {
        return "driver-root";
    }

    @Override
    public Result look() {
        try {
            return Result.healthy(node.library().toString());
        } catch (DraException e) {
            if (node.isForMachines()) {
                return Result.healthy("virtual machines have all GPUs: it need not be there");
            }
            return new Result("", List.of(finding(String.valueOf(e.getMessage()))));
        }
    }

    private Finding finding(String what) {
        return new Finding(
                id(),
                Severity.ERROR,
                root.toString(),
                what,
                "the driver publishes no GPU, and containers would get no libraries",
                List.of(
                        "nvidia-smi    # on the node: does NVIDIA's driver work at all?",
                        "ls -d /run/nvidia/driver/usr /home/kubernetes/bin/nvidia    # a driver container, GKE",
                        "# start the driver with --nvidia-driver-root=/run/nvidia/driver, for example (charts:"
                                + " nvidiaDriverRoot); / is for drivers that the node's packages installed"));
    }
}
