// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.claim.ProviderState;
import io.dra4j.runtime.RecordState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs that a claim takes from NVIDIA's driver, recorded before they are taken; after a crash, sysfs shows how far
 * it got.
 *
 * @param gpus the GPUs in the order in which they were taken
 */
record LentGpus(List<LentGpu> gpus) {

    private static final RecordState<LentGpus> FORM = RecordState.of(2, LentGpus.class);

    LentGpus {
        gpus = List.copyOf(gpus);
    }

    /**
     * A GPU of a claim.
     *
     * @param node its device node while NVIDIA's driver is bound, {@code dev/nvidia0}
     * @param isPersistent whether the driver has to keep it initialized without users afterwards
     * @param functions the GPU, and functions next to it that were bound to other drivers, in order
     */
    record LentGpu(String address, String node, boolean isPersistent, List<LentFunction> functions) {

        LentGpu {
            functions = List.copyOf(functions);
        }
    }

    /**
     * A function of a GPU's board.
     *
     * @param driver the driver to which it is returned
     * @param override the only driver that could be bound to it before; null if the kernel chose one
     */
    record LentFunction(
            String address, String driver, @Nullable String override) {}

    static LentGpus read(@Nullable ProviderState state) {
        return state == null ? new LentGpus(List.of()) : FORM.read(state);
    }

    LentGpus with(LentGpu taken) {
        List<LentGpu> all = new ArrayList<>(without(taken).gpus);
        all.add(taken);
        return new LentGpus(all);
    }

    LentGpus without(LentGpu returned) {
        return new LentGpus(gpus.stream()
                .filter(gpu -> !gpu.address.equals(returned.address))
                .toList());
    }

    @Nullable
    ProviderState toProviderState() {
        return gpus.isEmpty() ? null : FORM.write(this);
    }
}
