// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.Progress;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Offer.ToBeMade;
import io.dra4j.nvidia.mig.MigPart.Step;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the parts of a claim, and destroys them. Thread-safe: one GPU is changed by one thread at a
 * time, and different GPUs at the same time.
 */
public final class MigDeviceAllocator {

    private static final Logger LOG = LoggerFactory.getLogger(MigDeviceAllocator.class);

    private final Nvml nvml;
    private final Modes modes;
    private final GpuLocks locks = new GpuLocks();

    /**
     * Parts of the GPUs that a session knows.
     *
     * @param modeFollows whether the MIG mode of a GPU, by its UUID, is switched off with its last
     *     part
     */
    public MigDeviceAllocator(Nvml nvml, Predicate<String> modeFollows) {
        this.nvml = nvml;
        this.modes = new Modes(nvml, modeFollows);
    }

    /**
     * What was made for a claim.
     *
     * @param devices the MIG devices by the names of the claim's devices
     * @param state what has to be kept, to destroy them; null if there are none
     */
    public record Made(Map<String, MigDevice> devices, @Nullable ProviderState state) {

        /** Copies the devices. */
        public Made {
            devices = Map.copyOf(devices);
        }
    }

    /**
     * Makes all parts of a claim. When one can't be made, those before it are recorded, and {@link
     * #destroy} takes them back.
     *
     * @param wanted what is to be made, by the names of the claim's devices
     * @throws DraException if NVML refuses; says which GPU and what to do
     */
    public Made make(Map<String, ToBeMade> wanted, Progress progress) {
        Recorded recorded = new Recorded(MigState.none(), progress);
        Map<String, MigDevice> devices = new LinkedHashMap<>();
        wanted.forEach((name, part) -> devices.put(name, make(name, part, recorded)));
        return new Made(devices, wanted.isEmpty() ? null : recorded.state.written());
    }

    private MigDevice make(String name, ToBeMade wanted, Recorded recorded) {
        Gpu gpu = wanted.gpu();
        return locks.with(
                gpu.uuid(),
                () -> {
                    divide(name, wanted, recorded);
                    requireRoom(name, wanted);
                    MigPart part = recorded.now(part(name, wanted, Step.MAKING));
                    int instance =
                            nvml.createInstance(
                                    gpu.uuid(), wanted.profile().id(), wanted.placement());
                    MigDevice made = nvml.createCompute(gpu.uuid(), instance);
                    recorded.now(part.made(made));
                    return made;
                });
    }

    private void divide(String name, ToBeMade wanted, Recorded recorded) {
        if (!nvml.isDivided(wanted.gpu().uuid())) {
            recorded.now(part(name, wanted, Step.DIVIDING));
            modes.divide(wanted.gpu());
        }
    }

    private static MigPart part(String name, ToBeMade wanted, Step step) {
        return new MigPart(
                name, wanted.gpu().uuid(), wanted.profile().id(), wanted.placement(), step, null);
    }

    /**
     * What a claim may have whose record is lost: all that it was allocated, unless another claim
     * has it.
     *
     * @param wanted what it was allocated, by the names of its devices
     * @param others what is recorded of the claims that are held
     */
    public ProviderState suspected(Map<String, ToBeMade> wanted, List<ProviderState> others) {
        List<MigPart> taken =
                others.stream().flatMap(state -> MigState.read(state).parts().stream()).toList();
        MigState suspected = MigState.none();
        for (Map.Entry<String, ToBeMade> one : wanted.entrySet()) {
            MigPart part = part(one.getKey(), one.getValue(), Step.MAKING);
            if (taken.stream().noneMatch(part::overlaps)) {
                suspected = suspected.with(part);
            }
        }
        return suspected.written();
    }

    private void requireRoom(String name, ToBeMade wanted) {
        for (GpuInstance other : nvml.instances(wanted.gpu().uuid())) {
            if (other.placement().overlaps(wanted.placement())) {
                throw new PrepareException(
                        "There is GPU instance %d of %s where %s would be; nobody of this driver's claims made it, or it is not destroyed yet"
                                .formatted(other.id(), wanted.gpu().uuid(), name));
            }
        }
    }

    /**
     * Sees to it that a GPU can be used as a whole: switches its MIG mode off if it is divided into
     * nothing.
     *
     * @throws PrepareException if it is divided
     */
    public void makeWhole(Gpu gpu) {
        locks.with(
                gpu.uuid(),
                () -> {
                    modes.undivide(gpu);
                    return true;
                });
    }

    /** The GPU instances that no claim has. */
    public ForeignInstances strangers() {
        return new ForeignInstances(nvml, locks, modes);
    }

    /**
     * Finds the part that somebody else has made: with admin access one looks on, and makes none.
     *
     * @throws PrepareException if nobody has
     */
    public MigDevice existing(String name, ToBeMade wanted) {
        return nvml.instances(wanted.gpu().uuid()).stream()
                .filter(instance -> instance.placement().equals(wanted.placement()))
                .filter(instance -> instance.profileId() == wanted.profile().id())
                .flatMap(instance -> instance.devices().stream())
                .findFirst()
                .orElseThrow(
                        () ->
                                new PrepareException(
                                        "There is no MIG device %s to look at: no claim has made it"
                                                .formatted(name)));
    }

    /**
     * Sees to it that a MIG device is still the one that was published.
     *
     * @throws PrepareException if the administrator has destroyed it
     */
    public void require(Gpu gpu, MigDevice device) {
        boolean there =
                nvml.instances(gpu.uuid()).stream()
                        .anyMatch(instance -> instance.devices().contains(device));
        if (!there) {
            throw new PrepareException(
                    "%s of %s is not there any more: its GPU was divided anew"
                            .formatted(device.uuid(), gpu.uuid()));
        }
    }

    /**
     * Destroys the parts of a claim that are there; those that are not are no trouble.
     *
     * @param state what was recorded of the claim
     * @throws DraException if NVML refuses, for example while somebody still uses a part
     */
    public void destroy(@Nullable ProviderState state, Progress progress) {
        destroyAll(new Recorded(MigState.read(state), progress));
    }

    private void destroyAll(Recorded recorded) {
        for (MigPart part : List.copyOf(recorded.state.parts())) {
            locks.with(
                    part.gpu(),
                    () -> {
                        destroy(recorded.now(destroying(part)));
                        modes.undivideIfEmpty(part.gpu());
                        recorded.gone(part);
                        return true;
                    });
        }
    }

    /** A part of which the UUID is not known yet stays one that is being made. */
    private static MigPart destroying(MigPart part) {
        return part.uuid() == null ? part : part.destroying();
    }

    private void destroy(MigPart part) {
        for (GpuInstance instance : instances(part)) {
            if (part.owns(part.gpu(), instance)) {
                Instances.destroy(nvml, part.gpu(), instance);
            } else if (instance.placement().equals(part.placement())) {
                LOG.atWarn()
                        .addKeyValue("gpu", part.gpu())
                        .addKeyValue("instance", instance.id())
                        .addKeyValue("expected", part.uuid())
                        .log("Another MIG device is where a claim's was; it stays");
            }
        }
    }

    private List<GpuInstance> instances(MigPart part) {
        try {
            return nvml.instances(part.gpu());
        } catch (NvmlException e) {
            if (e.reason() != Reason.NOT_FOUND) {
                throw e;
            }
            LOG.atWarn()
                    .addKeyValue("gpu", part.gpu())
                    .addKeyValue("device", part.device())
                    .log("The GPU of a claim's part is not there any more, and so the part");
            return List.of();
        }
    }

    /** What is recorded, kept equal to what the journal has. */
    private static final class Recorded {
        private MigState state;
        private final Progress progress;

        Recorded(MigState state, Progress progress) {
            this.state = state;
            this.progress = progress;
        }

        MigPart now(MigPart part) {
            state = state.with(part);
            progress.record(state.written());
            return part;
        }

        void gone(MigPart part) {
            state = state.without(part);
            progress.record(state.written());
        }
    }
}
