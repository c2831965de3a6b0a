// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Nvml.MigSwitch;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.state.GpuFiles;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Switches the MIG mode of GPUs for claims if no reset is needed, and restores it when no claim uses the GPU.
 *
 * <p>Callers hold the GPU's lock.
 */
final class Modes {

    private static final Logger LOG = LoggerFactory.getLogger(Modes.class);

    // The previous modes, as stored.
    private static final List<String> ON = List.of("on");
    private static final List<String> OFF = List.of("off");

    private final Nvml nvml;
    private final GpuFiles files;
    private final Predicate<String> isAutomatic;
    private final Set<String> late = ConcurrentHashMap.newKeySet();

    Modes(Nvml nvml, GpuFiles files, Predicate<String> isAutomatic) {
        this.nvml = nvml;
        this.files = files;
        this.isAutomatic = isAutomatic;
    }

    /**
     * Stores the mode of a GPU before its first MIG device is created.
     *
     * @param isOfClaims whether claims already have MIG devices of it, so that the stored mode must have been lost: it counts as off
     */
    void remember(String gpu, boolean isOfClaims) {
        if (isAutomatic.test(gpu) && files.read(gpu).isEmpty()) {
            files.write(gpu, nvml.isMigEnabled(gpu) && !isOfClaims ? ON : OFF);
        }
    }

    void enable(Gpu gpu) {
        if (!gpu.switchesMigModeAtOnce() || nvml.modeNeedsReset(gpu.uuid())) {
            throw new PrepareException(gpu.uuid() + " is not in MIG mode, and switching it needs a reset of the GPU");
        }
        MigSwitch done = switched(gpu.uuid(), true);
        if (done != MigSwitch.DONE) {
            throw new PrepareException("%s can't be switched to MIG mode now: %s"
                    .formatted(
                            gpu.uuid(),
                            done == MigSwitch.IN_USE
                                    ? "it is in use as a whole; end the processes on it"
                                    : "switching it needs a reset of the GPU"));
        }
    }

    void disable(Gpu gpu) {
        if (requireEmpty(gpu)) {
            remember(gpu.uuid(), false);
            if (switched(gpu.uuid(), false) != MigSwitch.DONE) {
                throw notOff(gpu);
            }
        }
    }

    /** Returns whether MIG mode is on and may be switched off by this driver; changes nothing. */
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
     * Restores the previous mode of a GPU without instances. If none is stored, because the file was lost or
     * instances are foreign, the mode was off. It never fails: {@link #changed} contains a GPU whose mode is not restored. No
     * claim's record may contain a MIG device of the GPU, because it may be about to be created.
     *
     * @param isFree whether no claim may have it as a whole, so that the mode may be switched on
     */
    void restore(String gpu, boolean isFree) {
        try {
            Optional<List<String>> before = files.read(gpu);
            if (before.isEmpty() && !isAutomatic.test(gpu)) {
                return;
            }
            if (before.isEmpty()) {
                files.write(gpu, OFF); // first, because a retry needs it if NVML fails
            }
            boolean wasOn = before.filter(ON::equals).isPresent();
            boolean isOn = nvml.isMigEnabled(gpu);
            boolean isUsed = isOn ? !instances(gpu).isEmpty() : !isFree;
            if (!isUsed && isOn != wasOn && (nvml.modeNeedsReset(gpu) || switched(gpu, wasOn) != MigSwitch.DONE)) {
                later(gpu, null);
            } else if (!isUsed || before.isEmpty()) {
                files.delete(gpu);
                late.remove(gpu);
            }
        } catch (DraException e) {
            later(gpu, e);
        }
    }

    private void later(String gpu, @Nullable DraException e) {
        boolean isGone = e instanceof NvmlException failed && failed.reason() == Reason.NOT_FOUND;
        if (!isGone && late.add(gpu)) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Can't switch MIG mode back now; will be retried with each reading");
        }
    }

    /** Returns the GPUs that may not have their previous mode, in this load of the kernel module. */
    List<String> changed() {
        return files.gpus().stream().filter(gpu -> files.read(gpu).isPresent()).toList();
    }

    private MigSwitch switched(String gpu, boolean on) {
        MigSwitch done = nvml.switchMig(gpu, on);
        if (done == MigSwitch.NEEDS_RESET || (on && done != MigSwitch.DONE)) {
            nvml.switchMig(gpu, !on); // otherwise it would take effect with the next reset
        }
        return done;
    }

    private List<Integer> instances(String gpu) {
        return nvml.instances(gpu).stream().map(GpuInstance::id).toList();
    }
}
