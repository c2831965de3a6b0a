// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.mig.MigAllocation.Origin;
import io.dra4j.nvidia.mig.MigAllocation.Step;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Nvml.Presence;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Distinguishes the GPU instances of claims from foreign ones created in their places.
 *
 * <p>Within a session of NVML the handle decides: NVML refuses it once its instance is destroyed. An instance that an
 * earlier process or session created is followed from {@link #follow} on. For the time before, while no driver ran,
 * placement and profile decide, because NVML has no other evidence. Thread-safe; callers of {@link #owns} hold the
 * GPU's lock.
 */
final class Ownership {

    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    private final Nvml nvml;
    private final String process = UUID.randomUUID().toString();
    private final Map<Origin, Long> followed = new ConcurrentHashMap<>(); // serials of this process
    private final Set<String> ended = ConcurrentHashMap.newKeySet(); // keys of origins

    Ownership(Nvml nvml) {
        this.nvml = nvml;
    }

    Origin origin(long serial) {
        return new Origin(nvml.moduleLoad(), process, serial);
    }

    /** Returns whether a GPU instance belongs to a recorded MIG device. */
    boolean owns(MigAllocation recorded, String gpu, GpuInstance instance) {
        if (!recorded.isAt(gpu, instance)) {
            return false;
        }
        Origin origin = recorded.origin();
        if (origin == null) {
            return recorded.matches(instance);
        }
        if (origin.isBefore(nvml.moduleLoad()) || ended.contains(origin.key())) {
            return false;
        }
        Presence presence = presence(recorded, origin);
        return presence == Presence.PRESENT || (presence == Presence.UNKNOWN && recorded.matches(instance));
    }

    /** Returns whether the kernel driver was unloaded since, which ends all instances; works without NVML. */
    boolean hasEnded(MigAllocation recorded) {
        Origin origin = recorded.origin();
        return origin != null && origin.isBefore(nvml.moduleLoad());
    }

    /** Requires the compute instance only of a finished device: of others, this driver may have removed it. */
    private Presence presence(MigAllocation recorded, Origin origin) {
        Long serial = serial(origin);
        return serial == null ? Presence.UNKNOWN : nvml.presence(recorded.gpu(), serial, recorded.step() == Step.MADE);
    }

    private @Nullable Long serial(Origin origin) {
        Long here = followed.get(origin);
        return here == null && origin.process().equals(process) ? (Long) origin.serial() : here;
    }

    /**
     * Follows instances: detects destroyed ones, and gets handles of those that an earlier process or session created.
     */
    void follow(String gpu, Collection<MigAllocation> recorded) {
        List<MigAllocation> unknown = new ArrayList<>();
        for (MigAllocation allocation : recorded) {
            Origin origin = allocation.origin();
            if (origin == null
                    || allocation.step() != Step.MADE
                    || origin.isBefore(nvml.moduleLoad())
                    || ended.contains(origin.key())) {
                continue;
            }
            Presence presence = presence(allocation, origin);
            if (presence == Presence.GONE) {
                end(allocation, origin);
            } else if (presence == Presence.UNKNOWN) {
                unknown.add(allocation);
            }
        }
        if (!unknown.isEmpty()) {
            takeHandles(gpu, unknown);
        }
    }

    private void end(MigAllocation allocation, Origin origin) {
        ended.add(origin.key());
        LOG.atWarn()
                .addKeyValue("gpu", allocation.gpu())
                .addKeyValue("device", allocation.device())
                .log("The GPU instance of a claim was destroyed by another program or person; delete the claim's pods");
    }

    private void takeHandles(String gpu, List<MigAllocation> unknown) {
        List<GpuInstance> instances = nvml.instances(gpu);
        for (MigAllocation allocation : unknown) {
            Origin origin = Objects.requireNonNull(allocation.origin());
            instances.stream()
                    .filter(it -> allocation.isAt(gpu, it) && allocation.matches(it))
                    .findFirst()
                    .ifPresentOrElse(it -> followed.put(origin, nvml.follow(gpu, it)), () -> end(allocation, origin));
        }
    }

    Set<String> ended() {
        return new TreeSet<>(ended);
    }

    void recall(Collection<String> before) {
        ended.addAll(before);
    }

    /** Forgets the instances of claims that have ended. */
    void retain(Collection<MigAllocation> recorded) {
        Set<String> present = new HashSet<>();
        for (MigAllocation allocation : recorded) {
            Origin origin = allocation.origin();
            if (origin != null) {
                present.add(origin.key());
            }
        }
        followed.keySet().removeIf(origin -> !present.contains(origin.key()));
        ended.retainAll(present);
    }
}
