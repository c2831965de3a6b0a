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
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * GPU instances without a claim, created by an administrator or by a driver whose journal is lost. They occupy memory
 * slices of on-demand MIG devices. Thread-safe.
 *
 * @param held returns the current recorded states of all held claims
 * @param change changes a GPU, and restores the MIG mode if no claim has MIG devices of it
 */
public record ForeignInstances(
        Nvml nvml,
        GpuLocks locks,
        Ownership ownership,
        Supplier<List<ProviderState>> held,
        BiConsumer<String, Runnable> change) {

    private static final Logger LOG = LoggerFactory.getLogger(ForeignInstances.class);

    /** A GPU instance without a claim. */
    public record ForeignInstance(String gpu, GpuInstance instance) {}

    /**
     * Finds foreign instances. A GPU that can't be read is left out and logged.
     *
     * @throws DraException if a recorded state can't be read
     */
    public List<ForeignInstance> find(List<Gpu> gpus) {
        List<ForeignInstance> found = new ArrayList<>();
        for (Gpu gpu : gpus) {
            locks.run(gpu.uuid(), () -> found.addAll(findOn(gpu)));
        }
        return found;
    }

    /** Instances are read before claims: one created in between must not be found. */
    private List<ForeignInstance> findOn(Gpu gpu) {
        List<GpuInstance> instances = instances(gpu);
        List<MigAllocation> allocated = held.get().stream()
                .flatMap(state -> MigState.read(state).allocations().stream())
                .toList();
        return instances.stream()
                .filter(it -> allocated.stream().noneMatch(each -> owns(each, gpu.uuid(), it)))
                .map(it -> new ForeignInstance(gpu.uuid(), it))
                .toList();
    }

    private boolean owns(MigAllocation allocation, String gpu, GpuInstance instance) {
        return ownership.owns(allocation, gpu, instance);
    }

    private List<GpuInstance> instances(Gpu gpu) {
        try {
            return nvml.instances(gpu.uuid());
        } catch (NvmlException e) {
            LOG.atWarn().setCause(e).addKeyValue("gpu", gpu.uuid()).log("GPU instances can't be read now");
            return List.of();
        }
    }

    public void report(List<ForeignInstance> instances) {
        for (ForeignInstance foreign : instances) {
            LOG.atWarn()
                    .addKeyValue("gpu", foreign.gpu())
                    .addKeyValue("instance", foreign.instance().id())
                    .addKeyValue("placement", foreign.instance().placement())
                    .log("GPU instance without a claim blocks its memory slices; it stays unless"
                            + " --destroy-unknown-mig-devices is set");
        }
    }

    /** Destroys the instances with their MIG devices; instances in use are kept and logged. */
    public void destroy(List<ForeignInstance> instances) {
        for (ForeignInstance foreign : instances) {
            try {
                change.accept(foreign.gpu(), () -> destroy(foreign));
            } catch (DraException e) {
                LOG.atWarn()
                        .setCause(e)
                        .addKeyValue("gpu", foreign.gpu())
                        .addKeyValue("instance", foreign.instance().id())
                        .log("GPU instance without a claim can't be destroyed now; it stays");
            }
        }
    }

    /** Checks the instance again, because its number may belong to another one by now. */
    private void destroy(ForeignInstance foreign) {
        if (nvml.instances(foreign.gpu()).contains(foreign.instance())) {
            nvml.destroy(foreign.gpu(), foreign.instance());
            LOG.atInfo()
                    .addKeyValue("gpu", foreign.gpu())
                    .addKeyValue("instance", foreign.instance().id())
                    .log("Destroyed a GPU instance without a claim");
        }
    }
}
