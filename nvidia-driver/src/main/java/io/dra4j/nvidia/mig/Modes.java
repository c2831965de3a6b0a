// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigSwitch;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MIG mode of GPUs, which follows the claims where a switch needs no reset.
 *
 * <p>Callers hold the GPU's lock.
 */
final class Modes {

    private static final Logger LOG = LoggerFactory.getLogger(Modes.class);

    private final Nvml nvml;
    private final Predicate<String> isAutomatic;
    private final Set<String> pending = ConcurrentHashMap.newKeySet();

    Modes(Nvml nvml, Predicate<String> isAutomatic) {
        this.nvml = nvml;
        this.isAutomatic = isAutomatic;
    }

    /**
     * Ensures that a GPU is in MIG mode.
     *
     * @throws PrepareException if it can't be switched now
     */
    void enable(Gpu gpu) {
        if (!gpu.switchesMigModeAtOnce() || nvml.modeNeedsReset(gpu.uuid())) {
            throw new PrepareException(gpu.uuid() + " is not in MIG mode, and a switch needs a reset of the GPU");
        }
        MigSwitch done = nvml.switchMig(gpu.uuid(), true);
        if (done != MigSwitch.DONE) {
            nvml.switchMig(gpu.uuid(), false); // otherwise it would take effect with the next reset
            throw new PrepareException("%s can't be switched to MIG mode now: %s"
                    .formatted(
                            gpu.uuid(),
                            done == MigSwitch.IN_USE
                                    ? "it is in use as a whole; end the processes on it"
                                    : "the switch needs a reset of the GPU"));
        }
    }

    /**
     * Ensures that a GPU is not in MIG mode.
     *
     * @throws PrepareException if it has instances, or can't be switched now
     */
    void disable(Gpu gpu) {
        if (requireEmpty(gpu) && !switchOff(gpu.uuid())) {
            throw notOff(gpu);
        }
    }

    /** Returns whether it has MIG mode on, which this driver may switch off; changes nothing. */
    boolean requireEmpty(Gpu gpu) {
        if (!nvml.isMigEnabled(gpu.uuid())) {
            return false;
        }
        List<Integer> instances = instances(gpu.uuid());
        if (!instances.isEmpty()) {
            throw new PrepareException(
                    "%s has GPU instances %s, and can't be used as a whole".formatted(gpu.uuid(), instances));
        }
        if (!isAutomatic.test(gpu.uuid())) {
            throw notOff(gpu);
        }
        return true;
    }

    private static PrepareException notOff(Gpu gpu) {
        return new PrepareException("%s is in MIG mode, which can't be switched off now".formatted(gpu.uuid()));
    }

    /**
     * Switches MIG mode off after the last instance, so that the GPU can be used as a whole. It
     * never fails: a GPU that can't be switched now is {@link #pending}.
     */
    void disableIfEmpty(String gpu) {
        try {
            boolean isOff = !isAutomatic.test(gpu)
                    || !nvml.isMigEnabled(gpu)
                    || !instances(gpu).isEmpty()
                    || switchOff(gpu);
            if (isOff) {
                pending.remove(gpu);
            } else {
                later(gpu, null);
            }
        } catch (NvmlException e) {
            if (e.reason() == Reason.NOT_FOUND) { // the GPU was removed
                pending.remove(gpu);
            } else {
                later(gpu, e);
            }
        }
    }

    private void later(String gpu, @Nullable NvmlException e) {
        if (pending.add(gpu)) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Can't switch MIG mode off now; tried again with each reading");
        }
    }

    /** Returns the GPUs whose MIG mode could not be switched off. */
    Set<String> pending() {
        return Set.copyOf(pending);
    }

    private boolean switchOff(String gpu) {
        MigSwitch done = nvml.switchMig(gpu, false);
        if (done == MigSwitch.NEEDS_RESET) {
            nvml.switchMig(gpu, true); // the administrator's mode, which a reset would end
        }
        return done == MigSwitch.DONE;
    }

    private List<Integer> instances(String gpu) {
        return nvml.instances(gpu).stream().map(GpuInstance::id).toList();
    }
}
