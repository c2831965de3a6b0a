// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigSwitch;
import io.dra4j.nvidia.nvml.Nvml;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether GPUs are divided. Their mode follows what claims want, where it needs no reset to switch.
 *
 * <p>Whoever calls holds the GPU's lock.
 */
final class Modes {

    private static final Logger LOG = LoggerFactory.getLogger(Modes.class);

    private final Nvml nvml;
    private final Predicate<String> follows;

    Modes(Nvml nvml, Predicate<String> follows) {
        this.nvml = nvml;
        this.follows = follows;
    }

    /**
     * Sees to it that a GPU can have instances.
     *
     * @throws PrepareException if it cannot now
     */
    void divide(Gpu gpu) {
        if (!gpu.architecture().switchesMigModeAtOnce()) {
            throw new PrepareException(
                    gpu.uuid() + " is not in MIG mode any more, which needs a reset to switch");
        }
        MigSwitch done = nvml.switchMig(gpu.uuid(), true);
        if (done != MigSwitch.DONE) {
            nvml.switchMig(gpu.uuid(), false); // or it would come with the next reset
            throw new PrepareException(
                    "%s can't be divided now: %s"
                            .formatted(
                                    gpu.uuid(),
                                    done == MigSwitch.IN_USE
                                            ? "somebody uses it as a whole; end the processes on it"
                                            : "its MIG mode needs a reset of the GPU"));
        }
    }

    /**
     * Sees to it that a GPU can be used as a whole.
     *
     * @throws PrepareException if it is divided
     */
    void undivide(Gpu gpu) {
        if (!nvml.isDivided(gpu.uuid())) {
            return;
        }
        List<Integer> instances = instances(gpu.uuid());
        if (!instances.isEmpty()) {
            throw new PrepareException(
                    "%s is divided into GPU instances %s, and can't be used as a whole"
                            .formatted(gpu.uuid(), instances));
        }
        if (!follows.test(gpu.uuid()) || !isOff(gpu.uuid())) {
            throw new PrepareException(
                    "%s is in MIG mode, which can't be switched off now".formatted(gpu.uuid()));
        }
    }

    /** After its last part, a GPU can be used as a whole again. */
    void undivideIfEmpty(String gpu) {
        if (!follows.test(gpu) || !nvml.isDivided(gpu) || !instances(gpu).isEmpty()) {
            return;
        }
        if (!isOff(gpu)) {
            LOG.atWarn()
                    .addKeyValue("gpu", gpu)
                    .log(
                            "Its MIG mode can't be switched off now; the next claim of it tries again");
        }
    }

    private boolean isOff(String gpu) {
        return nvml.switchMig(gpu, false) == MigSwitch.DONE;
    }

    private List<Integer> instances(String gpu) {
        return nvml.instances(gpu).stream().map(GpuInstance::id).toList();
    }
}
