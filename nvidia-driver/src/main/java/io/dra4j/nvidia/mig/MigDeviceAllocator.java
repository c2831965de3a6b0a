// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.mig.MigAllocation.Origin;
import io.dra4j.nvidia.mig.MigAllocation.Step;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.GpuFiles;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and destroys the MIG devices of claims. Thread-safe: one thread at a time changes a GPU,
 * and different GPUs change at the same time.
 */
public final class MigDeviceAllocator {

    private static final Logger LOG = LoggerFactory.getLogger(MigDeviceAllocator.class);

    private final Nvml nvml;
    private final Modes modes;
    private final Ownership ownership;
    private final GpuLocks locks = new GpuLocks();
    private final AtomicLong adopted = new AtomicLong(); // the last serial of an adopted instance
    private volatile @Nullable DriverContext runtime; // null before the start

    /**
     * Creates an allocator.
     *
     * @param modes the MIG modes before claims have changed them
     * @param isModeAutomatic whether the MIG mode of a GPU, by its UUID, follows the claims
     */
    public MigDeviceAllocator(Nvml nvml, GpuFiles modes, Predicate<String> isModeAutomatic) {
        this.nvml = nvml;
        this.modes = new Modes(nvml, modes, isModeAutomatic);
        this.ownership = new Ownership(nvml);
    }

    /** Starts to exclude the other process of a rolling update. */
    public void start(DriverContext started) {
        runtime = started;
    }

    private <T> T change(String gpu, Instant deadline, Supplier<T> work) {
        String name = "mig-" + gpu.toLowerCase(Locale.ROOT);
        return GpuLocks.onNode(runtime, name, deadline, () -> locks.with(gpu, work));
    }

    private void run(String gpu, Instant deadline, Runnable work) {
        change(gpu, deadline, () -> {
            work.run();
            return true;
        });
    }

    /** Creates an allocator that switches no MIG mode. */
    public static MigDeviceAllocator ofModesThatStay(Nvml nvml) {
        return new MigDeviceAllocator(nvml, new GpuFiles(Path.of("mig-modes"), nvml::moduleLoad), gpu -> false);
    }

    /**
     * The MIG devices that another driver has created for a claim.
     *
     * @param devices the MIG devices by the names of the claim's devices
     * @param state the state that is needed to destroy them; null if there are none
     */
    public record Created(
            Map<String, MigDevice> devices, @Nullable ProviderState state) {

        public Created {
            devices = Map.copyOf(devices);
        }
    }

    /**
     * Creates the MIG devices of a claim that no other claim shares with it. After a failure, the devices created so
     * far are recorded, and {@link #destroy} destroys them.
     *
     * @param requested the MIG devices to create, by the names of the claim's devices
     */
    public Map<String, MigDevice> create(
            Map<String, OnDemand> requested, Supplier<List<ProviderState>> others, ClaimRecorder claim) {
        Map<String, MigDevice> devices = new LinkedHashMap<>();
        requested.forEach((name, mig) -> devices.put(name, create(name, mig, others, claim)));
        return devices;
    }

    /**
     * Returns the MIG devices that another driver has created for a claim, with the state to destroy them; changes
     * nothing.
     */
    public Created adopted(Map<String, OnDemand> requested) {
        MigState state = MigState.none();
        Map<String, MigDevice> devices = new LinkedHashMap<>();
        for (Map.Entry<String, OnDemand> one : requested.entrySet()) {
            MigDevice device = existing(one.getKey(), one.getValue());
            devices.put(one.getKey(), device);
            state = state.with(allocation(one.getKey(), one.getValue(), Step.MADE)
                    .created(device, ownership.origin(adopted.incrementAndGet())));
        }
        return new Created(devices, requested.isEmpty() ? null : state.toProviderState());
    }

    private MigDevice create(
            String name, OnDemand requested, Supplier<List<ProviderState>> others, ClaimRecorder claim) {
        Gpu gpu = requested.gpu();
        return change(gpu.uuid(), claim.deadline(), () -> {
            MigAllocation shared = allocation(name, requested, Step.MADE).sharedBy(allocations(others));
            if (shared != null) {
                MigDevice device = existing(name, requested);
                record(shared, claim);
                return device;
            }
            modes.remember(gpu.uuid(), haveMigDevices(gpu.uuid(), others));
            if (!nvml.isMigEnabled(gpu.uuid())) {
                record(allocation(name, requested, Step.DIVIDING), claim);
                modes.enable(gpu);
            }
            requireRoom(name, requested);
            MigAllocation allocation =
                    allocation(name, requested, Step.MAKING).begun(ownership.origin(Origin.NOT_CREATED));
            record(allocation, claim);
            CreatedInstance instance = createInstance(allocation, claim);
            return createCompute(allocation, instance, claim);
        });
    }

    private CreatedInstance createInstance(MigAllocation allocation, ClaimRecorder claim) {
        try {
            return nvml.createInstance(allocation.gpu(), allocation.profileId(), allocation.placement());
        } catch (NvmlException e) {
            record(
                    e.reason() == Reason.NO_ROOM || e.reason() == Reason.GIVEN_BACK
                            ? allocation.at(Step.DIVIDING)
                            : leftBy(allocation),
                    claim);
            throw e;
        }
    }

    /** Returns the result of a failed creation: nothing, an instance, or unknown. */
    private MigAllocation leftBy(MigAllocation allocation) {
        try {
            for (GpuInstance instance : nvml.instances(allocation.gpu())) {
                if (allocation.isAt(allocation.gpu(), instance)) {
                    return allocation.begun(ownership.origin(nvml.follow(allocation.gpu(), instance)));
                }
            }
            return allocation.at(Step.DIVIDING);
        } catch (NvmlException e) {
            LOG.atDebug().setCause(e).log("It is unknown whether a GPU instance was created");
            return allocation;
        }
    }

    private MigDevice createCompute(MigAllocation allocation, CreatedInstance instance, ClaimRecorder claim) {
        Origin origin = ownership.origin(instance.serial());
        try {
            MigDevice created = nvml.createCompute(allocation.gpu(), instance);
            record(allocation.created(created, origin), claim);
            return created;
        } catch (NvmlException e) {
            record(allocation.begun(origin), claim);
            throw e;
        }
    }

    private static MigAllocation allocation(String name, OnDemand mig, Step step) {
        return new MigAllocation(name, mig.gpu().uuid(), mig.profile().id(), mig.placement(), step, null, null);
    }

    private void requireRoom(String name, OnDemand requested) {
        for (GpuInstance other : nvml.instances(requested.gpu().uuid())) {
            if (other.placement().overlaps(requested.placement())) {
                throw new PrepareException(
                        "GPU instance %d of %s occupies memory slices of %s; it belongs to no claim of this driver, or is not destroyed yet"
                                .formatted(other.id(), requested.gpu().uuid(), name));
            }
        }
    }

    /**
     * Returns the state that a claim with a lost record may have: all its allocated MIG devices,
     * except those of other claims.
     */
    public ProviderState suspected(Map<String, OnDemand> allocated, List<ProviderState> others) {
        List<MigAllocation> taken = allocations(others);
        return new MigState(allocated.entrySet().stream()
                        .map(it -> allocation(it.getKey(), it.getValue(), Step.MAKING))
                        .filter(suspect -> taken.stream().noneMatch(suspect::overlaps))
                        .toList())
                .toProviderState();
    }

    /** Throws a PrepareException if a GPU has instances, or MIG mode that can't be switched off; changes nothing. */
    public void requireEmpty(Gpu gpu) {
        modes.requireEmpty(gpu);
    }

    /** Ensures that a GPU can be used as a whole: switches MIG mode off if it has no instances. */
    public void requireWhole(Gpu gpu, Instant deadline) {
        run(gpu.uuid(), deadline, () -> modes.disable(gpu));
    }

    /**
     * Starts following the GPU instances of claims: once destroyed, an instance no longer belongs to a claim, even if
     * another one is created in its place. GPUs that can't be read now are retried at the next call.
     */
    public void follow(Supplier<List<ProviderState>> held) {
        ownership.retain(allocations(held.get()));
        Set<String> gpus = new TreeSet<>();
        allocations(held.get()).forEach(allocation -> gpus.add(allocation.gpu()));
        for (String gpu : gpus) {
            try {
                locks.run(gpu, () -> follow(gpu, held.get()));
            } catch (NvmlException e) {
                LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Instances can't be read");
            }
        }
    }

    /**
     * Returns the UUID of a MIG device that was created for a claim.
     *
     * @param state the claim's recorded state; null if it has none
     * @throws DraException if the record can't be read
     */
    public static Optional<String> created(@Nullable ProviderState state, String device) {
        return MigState.read(state).allocations().stream()
                .filter(one -> one.device().equals(device))
                .findFirst()
                .map(MigAllocation::uuid);
    }

    /** Returns the destroyed GPU instances of claims, for {@link #recall} after a restart. */
    public Set<String> ended() {
        return ownership.ended();
    }

    /** Adds the destroyed GPU instances that an earlier process recorded. */
    public void recall(Collection<String> ended) {
        ownership.recall(ended);
    }

    private void follow(String gpu, List<ProviderState> held) {
        ownership.follow(
                gpu,
                allocations(held).stream().filter(it -> it.gpu().equals(gpu)).toList());
    }

    private static List<MigAllocation> allocations(Supplier<List<ProviderState>> states) {
        return allocations(states.get());
    }

    private static List<MigAllocation> allocations(List<ProviderState> states) {
        return states.stream()
                .flatMap(state -> MigState.read(state).allocations().stream())
                .toList();
    }

    private static boolean haveMigDevices(String gpu, Supplier<List<ProviderState>> claims) {
        return allocations(claims).stream().anyMatch(it -> it.gpu().equals(gpu));
    }

    /**
     * Restores the MIG modes that GPUs had before claims that no longer exist. It never fails, nor waits for other
     * changes of a GPU: a later call retries what can't be done now.
     *
     * @param isWanted returns whether to restore a GPU, by its UUID
     * @param isFree returns whether no claim may have a GPU as a whole
     * @param others returns the current recorded states of the claims that stay
     */
    public void restoreModes(
            Predicate<String> isWanted, Predicate<String> isFree, Supplier<List<ProviderState>> others) {
        try {
            List<String> changed = modes.changed().stream().filter(isWanted).toList();
            if (!changed.isEmpty()) {
                nvml.inOneSession(() -> {
                    changed.forEach(gpu -> restoreMode(gpu, isFree, others));
                    return true;
                });
            }
        } catch (DraException e) {
            LOG.atDebug().setCause(e).log("MIG modes can't be restored now");
        }
    }

    private void restoreMode(String gpu, Predicate<String> isFree, Supplier<List<ProviderState>> others) {
        try {
            run(gpu, Instant.MIN, () -> {
                if (!haveMigDevices(gpu, others)) {
                    modes.restore(gpu, isFree.test(gpu));
                }
            });
        } catch (DraException e) {
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("The MIG mode can't be restored now");
        }
    }

    /**
     * Returns the names of MIG devices that are in a claim's record but missing in the hardware.
     *
     * @throws DraException if NVML fails, or the record can't be read
     */
    public List<String> gone(ProviderState recorded) {
        return MigState.read(recorded).allocations().stream()
                .filter(one -> one.step() == Step.MADE)
                .filter(one ->
                        instances(one, Set.of()).stream().noneMatch(it -> one.isAt(one.gpu(), it) && one.matches(it)))
                .map(MigAllocation::device)
                .toList();
    }

    /** Returns the GPU instances without a claim. */
    public ForeignInstances foreignInstances(Supplier<List<ProviderState>> held) {
        return new ForeignInstances(
                nvml,
                locks,
                ownership,
                held,
                (gpu, work) -> run(gpu, Instant.MIN, () -> {
                    work.run();
                    if (!haveMigDevices(gpu, held)) {
                        modes.restore(gpu, false);
                    }
                }));
    }

    /** Returns an existing on-demand MIG device: admin access uses one, and creates none. */
    public MigDevice existing(String name, OnDemand requested) {
        return find(nvml, requested)
                .orElseThrow(() ->
                        new PrepareException("MIG device %s does not exist: no claim has created it".formatted(name)));
    }

    public static Optional<MigDevice> find(Nvml nvml, OnDemand offer) {
        return nvml.instances(offer.gpu().uuid()).stream()
                .filter(instance -> instance.placement().equals(offer.placement()))
                .filter(instance -> instance.profileId() == offer.profile().id())
                .flatMap(instance -> instance.devices().stream())
                .findFirst();
    }

    /** Ensures that a published MIG device still exists. */
    public void requireExisting(Gpu gpu, MigDevice device) {
        if (nvml.instances(gpu.uuid()).stream()
                .noneMatch(instance -> instance.devices().contains(device))) {
            throw new PrepareException("%s of %s no longer exists: the GPU's MIG devices were changed"
                    .formatted(device.uuid(), gpu.uuid()));
        }
    }

    /**
     * Destroys the MIG devices of a claim, if they exist and no other claim shares them.
     *
     * @param lost the UUIDs of GPUs that have fallen off the bus: the reset that they need ends their MIG devices
     * @throws DraException if NVML fails, for example because one is still in use
     */
    public void destroy(Set<String> lost, Supplier<List<ProviderState>> others, ClaimRecorder claim) {
        for (MigAllocation allocation : recorded(claim).allocations()) {
            run(allocation.gpu(), claim.deadline(), () -> {
                if (!allocation.isSharedBy(allocations(others))) {
                    destroy(allocation, lost, claim);
                    if (!haveMigDevices(allocation.gpu(), others)) {
                        modes.restore(allocation.gpu(), false);
                    }
                }
                claim.recordMig(recorded(claim).without(allocation).toProviderState());
            });
        }
    }

    private void destroy(MigAllocation recorded, Set<String> lost, ClaimRecorder claim) {
        // without a known UUID, the MIG device counts as being created
        MigAllocation allocation = recorded.uuid() == null ? recorded : recorded.at(Step.DESTROYING);
        record(allocation, claim);
        for (GpuInstance instance : instances(allocation, lost)) {
            if (ownership.owns(allocation, allocation.gpu(), instance)) {
                nvml.destroy(allocation.gpu(), instance);
            } else if (instance.placement().equals(allocation.placement())) {
                LOG.atWarn()
                        .addKeyValue("gpu", allocation.gpu())
                        .addKeyValue("instance", instance.id())
                        .addKeyValue("expected", allocation.uuid())
                        .log("Another MIG device occupies the memory slices of a claim's MIG device; it stays");
            }
        }
    }

    private List<GpuInstance> instances(MigAllocation allocation, Set<String> lost) {
        if (allocation.step() == Step.DIVIDING || ownership.hasEnded(allocation)) {
            return List.of();
        }
        try {
            return nvml.instances(allocation.gpu());
        } catch (NvmlException e) {
            boolean isLost = e.reason() == Reason.GPU_LOST && lost.contains(allocation.gpu());
            if (!isLost && e.reason() != Reason.NOT_FOUND) {
                throw e;
            }
            LOG.atWarn()
                    .addKeyValue("gpu", allocation.gpu())
                    .addKeyValue("device", allocation.device())
                    .log("GPU of a claim's MIG device no longer exists, or has fallen off the bus");
            return List.of();
        }
    }

    private static void record(MigAllocation allocation, ClaimRecorder claim) {
        claim.recordMig(recorded(claim).with(allocation).toProviderState());
    }

    private static MigState recorded(ClaimRecorder claim) {
        return MigState.read(claim.state().mig());
    }
}
