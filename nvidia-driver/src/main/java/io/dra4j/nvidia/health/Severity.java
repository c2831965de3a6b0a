// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.Placement;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what errors do that GPUs report together: it asks NVML once about each GPU. */
final class Severity {

    private static final Logger LOG = LoggerFactory.getLogger(Severity.class);

    private final Nvml nvml;
    private final XidEffects effects;
    private final Map<String, Optional<Boolean>> needs = new HashMap<>(); // by GPU
    private final Map<String, List<GpuInstance>> instances = new HashMap<>(); // by GPU

    Severity(Nvml nvml, XidEffects effects) {
        this.nvml = nvml;
        this.effects = effects;
    }

    XidError of(Event.Xid event, Instant now) {
        Optional<Boolean> needsRecovery = needs.computeIfAbsent(event.gpu(), this::needsRecovery);
        Effect effect = effects.of(event.xid(), needsRecovery);
        return new XidError(
                event.xid(),
                event.concernsAll() ? null : place(event),
                now.toEpochMilli(),
                effect,
                needsRecovery.orElse(effect != Effect.NONE));
    }

    /** Returns empty if the driver does not report it, before R565, or it can't be read now. */
    private Optional<Boolean> needsRecovery(String gpu) {
        try {
            return nvml.needsRecovery(gpu);
        } catch (NvmlException e) { // it is lost, too, or was removed
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Recovery action can't be read");
            return Optional.empty();
        }
    }

    /** Returns the memory slices; without, the error counts as one of the whole GPU. */
    private @Nullable Placement place(Event.Xid event) {
        return instances.computeIfAbsent(event.gpu(), this::instances).stream()
                .filter(instance -> instance.id() == event.gpuInstance())
                .map(GpuInstance::placement)
                .findFirst()
                .orElse(null);
    }

    private List<GpuInstance> instances(String gpu) {
        try {
            return nvml.instances(gpu);
        } catch (NvmlException e) {
            return List.of();
        }
    }
}
