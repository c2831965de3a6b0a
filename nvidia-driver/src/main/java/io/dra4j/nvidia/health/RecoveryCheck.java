// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks whether GPUs with faults work again: a taint stays until that is known. It calls NVML only for these GPUs.
 * Used by one thread.
 */
final class RecoveryCheck {

    private static final Logger LOG = LoggerFactory.getLogger(RecoveryCheck.class);

    private final Nvml nvml;
    private final DeviceFaults faults;
    private final XidEffects effects;
    private final Duration quiet;
    private final Set<String> unrepaired = new HashSet<>();

    /**
     * Creates a check.
     *
     * @param quiet how long an error that needs no recovery persists
     */
    RecoveryCheck(Nvml nvml, DeviceFaults faults, XidEffects effects, Duration quiet) {
        this.nvml = nvml;
        this.faults = faults;
        this.effects = effects;
        this.quiet = quiet;
    }

    /** Checks each GPU with a fault; returns whether one of them has changed. */
    boolean check(Instant now) {
        boolean changed = false;
        Set<String> failed = faults.failed();
        unrepaired.retainAll(failed);
        for (String gpu : failed) {
            changed |= check(gpu, now);
        }
        return changed;
    }

    private boolean check(String gpu, Instant now) {
        try {
            boolean isBack = faults.isLost(gpu);
            Optional<Boolean> needsRecovery = nvml.needsRecovery(gpu);
            boolean hasChanged = update(gpu, needsRecovery, now);
            return hasChanged || isBack; // the next reading finds it
        } catch (NvmlException e) { // it is lost, or was removed
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("GPU does not answer");
            return false;
        }
    }

    private boolean update(String gpu, Optional<Boolean> needsRecovery, Instant now) {
        if (needsRecovery.isEmpty()) {
            return faults.forget(gpu, quiet, now, XidError::isHarmless);
        }
        if (needsRecovery.get()) {
            return faults.awaitRecovery(gpu, effects);
        }
        boolean hasEnded = faults.forget(gpu, quiet, now, error -> !error.awaitsRecovery());
        if (faults.awaitsRecovery(gpu) && isRepaired(gpu)) {
            faults.recovered(gpu);
            LOG.atInfo().addKeyValue("gpu", gpu).log("GPU recovered");
            return true;
        }
        return hasEnded;
    }

    private boolean isRepaired(String gpu) {
        boolean isRepaired = !nvml.isRepairPending(gpu);
        if (!isRepaired && unrepaired.add(gpu)) {
            LOG.atWarn()
                    .addKeyValue("gpu", gpu)
                    .log(
                            "GPU requests no recovery, but has memory that a reset has yet to replace, or that can't be replaced; its taints stay");
        }
        return isRepaired;
    }
}
