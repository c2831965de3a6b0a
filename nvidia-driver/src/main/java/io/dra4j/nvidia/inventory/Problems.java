// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.LeftOut;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Problem;
import io.dra4j.nvidia.nvml.Problem.Cost;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.nvml.UnplacedMigDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The gaps of a reading, and the devices that they cost.
 *
 * @param reading the reading
 */
record Problems(Reading reading) {

    private Stream<Problem> of(Gpu gpu, Cost... costs) {
        return reading.problems().stream()
                .filter(problem -> problem.gpu().equals(gpu.uuid()))
                .filter(problem -> Arrays.asList(costs).contains(problem.cost()));
    }

    boolean has(Gpu gpu, Cost cost) {
        return of(gpu, cost).findAny().isPresent();
    }

    /** Returns parts of a GPU that are not offered, as a list that can be added to. */
    List<LeftOut> leftOut(Gpu gpu, Cost... costs) {
        return new ArrayList<>(of(gpu, costs).map(Problems::leftOut).toList());
    }

    /** Returns GPUs that are not offered. */
    List<LeftOut> gpus() {
        return of(Cost.GPU).map(Problems::leftOut).toList();
    }

    /** Returns missing attributes, and hardware that is as last read. */
    List<Problem> notes() {
        return of(Cost.NONE).toList();
    }

    private Stream<Problem> of(Cost cost) {
        return reading.problems().stream().filter(problem -> problem.cost() == cost);
    }

    private static LeftOut leftOut(Problem problem) {
        return new LeftOut(problem.subject(), problem.reason());
    }

    /** Returns the MIG devices of a GPU whose placements are unknown. */
    List<LeftOut> unplaced(Gpu gpu) {
        return reading.unplaced().stream()
                .filter(device -> device.gpu().equals(gpu.uuid()))
                .map(device -> unplaced(gpu, device))
                .toList();
    }

    private static LeftOut unplaced(Gpu gpu, UnplacedMigDevice device) {
        String computes = device.slices() == device.computeSlices() ? "" : device.computeSlices() + "c.";
        return new LeftOut(
                "%s (%s%s, %d SMs, GPU instance %d of %s)"
                        .formatted(
                                device.uuid(),
                                computes,
                                ProfileName.of(gpu, device.slices(), device.memoryMiB()),
                                device.multiprocessors(),
                                device.gpuInstance(),
                                gpu.uuid()),
                "NVML reports its placement, of which its name is made, only to root");
    }
}
