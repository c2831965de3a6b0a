// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * GPU instances that no claim has: an administrator made them, or a driver whose journal is lost.
 *
 * <p>They stand where claims' parts should be. Thread-safe.
 */
public final class ForeignInstances {

    private static final Logger LOG = LoggerFactory.getLogger(ForeignInstances.class);

    private final Nvml nvml;
    private final GpuLocks locks;
    private final Modes modes;

    ForeignInstances(Nvml nvml, GpuLocks locks, Modes modes) {
        this.nvml = nvml;
        this.locks = locks;
        this.modes = modes;
    }

    /**
     * A GPU instance that no claim has.
     *
     * @param gpu the UUID of its GPU
     * @param instance the instance
     */
    public record Stranger(String gpu, GpuInstance instance) {}

    /**
     * Finds them. A GPU that can't be read is left out, and said so: the others must work.
     *
     * @param gpus the GPUs to look at
     * @param held tells what is recorded of all claims that are held, at each call
     * @throws DraException if what is recorded can't be read: then nobody knows
     */
    public List<Stranger> among(List<Gpu> gpus, Supplier<List<ProviderState>> held) {
        List<Stranger> strangers = new ArrayList<>();
        for (Gpu gpu : gpus) {
            locks.with(gpu.uuid(), () -> strangers.addAll(on(gpu, held)));
        }
        return strangers;
    }

    /** Instances are read first: what is made after that is in no way of anybody. */
    private List<Stranger> on(Gpu gpu, Supplier<List<ProviderState>> held) {
        List<GpuInstance> instances = instances(gpu);
        List<MigPart> parts =
                held.get().stream()
                        .flatMap(state -> MigState.read(state).parts().stream())
                        .toList();
        return instances.stream()
                .filter(it -> parts.stream().noneMatch(part -> part.owns(gpu.uuid(), it)))
                .map(it -> new Stranger(gpu.uuid(), it))
                .toList();
    }

    private List<GpuInstance> instances(Gpu gpu) {
        try {
            return nvml.instances(gpu.uuid());
        } catch (NvmlException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu.uuid())
                    .log("What the GPU is divided into can't be read now");
            return List.of();
        }
    }

    /** Says what stands in the way, and how to be rid of it. */
    public void report(List<Stranger> strangers) {
        for (Stranger stranger : strangers) {
            LOG.atWarn()
                    .addKeyValue("gpu", stranger.gpu())
                    .addKeyValue("instance", stranger.instance().id())
                    .addKeyValue("placement", stranger.instance().placement())
                    .log(
                            "No claim has this GPU instance, and no claim can get what it has; it"
                                    + " stays unless --destroy-unknown-mig-devices is set");
        }
    }

    /** Destroys them, with all that is in them; those that somebody uses stay, and are told of. */
    public void destroy(List<Stranger> strangers) {
        for (Stranger stranger : strangers) {
            try {
                locks.with(stranger.gpu(), () -> destroyed(stranger));
            } catch (NvmlException e) {
                LOG.atWarn()
                        .setCause(e)
                        .addKeyValue("gpu", stranger.gpu())
                        .addKeyValue("instance", stranger.instance().id())
                        .log("A GPU instance that no claim has can't be destroyed now; it stays");
            }
        }
    }

    /** Its number may be another's by now. */
    private boolean destroyed(Stranger stranger) {
        if (!nvml.instances(stranger.gpu()).contains(stranger.instance())) {
            return false;
        }
        Instances.destroy(nvml, stranger.gpu(), stranger.instance());
        modes.undivideIfEmpty(stranger.gpu());
        LOG.atInfo()
                .addKeyValue("gpu", stranger.gpu())
                .addKeyValue("instance", stranger.instance().id())
                .log("A GPU instance that no claim has was destroyed");
        return true;
    }
}
