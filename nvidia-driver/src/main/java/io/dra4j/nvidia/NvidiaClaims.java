// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.Offer.OfNvml;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.inventory.Offer.Passthrough;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.ClaimState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Prepares and unprepares the claims of a node. GPUs are taken for virtual machines first, then MIG devices are
 * created, then devices are shared; MIG devices are destroyed last. Thread-safe.
 */
record NvidiaClaims(
        Nvml nvml,
        Edits edits,
        MigDeviceAllocator allocator,
        DeviceSharing sharing,
        MachineClaims machines,
        PartitionClaims partitions) {

    static List<ProviderState> migStates(DriverContext runtime) {
        return migStates(runtime.held().stream());
    }

    static List<ProviderState> migStates(Stream<HeldClaim> held) {
        return held.map(claim -> ClaimState.read(claim.state()).mig())
                .filter(Objects::nonNull)
                .toList();
    }

    private static List<ProviderState> migStatesBeside(ClaimRef claim, DriverContext runtime) {
        return migStates(
                runtime.held().stream().filter(held -> !held.ref().uid().equals(claim.uid())));
    }

    /** Prepares a claim, in one NVML session. */
    PreparedClaim prepare(AllocatedClaim claim, DriverSnapshot now, DriverContext runtime, ClaimContext context) {
        ContainerEdits common = common(claim, now);
        sharing.requireThere(claim);
        claim.devices().stream()
                .filter(device -> !device.adminAccess())
                .forEach(it -> machines.requireAlone(claim.ref(), offer(now, it), now, runtime));
        Map<String, OnDemand> requested = requested(claim, now);
        ClaimRecorder recorder = new ClaimRecorder(ClaimState.NONE, context);
        claim.devices().forEach(device -> requireUsable(device, offer(now, device), now));
        partitions.activate(claim, now, runtime, recorder);
        Map<AllocatedDevice, PreparedDevice> prepared = new LinkedHashMap<>();
        for (AllocatedDevice device : claim.devices()) {
            if (offer(now, device) instanceof Passthrough machine) {
                prepared.put(device, machines.prepare(device, machine, recorder));
            }
        }
        Map<String, MigDevice> created =
                allocator.create(requested, () -> migStatesBeside(claim.ref(), runtime), recorder);
        List<SharedDevice> devices = new ArrayList<>();
        for (AllocatedDevice device : claim.devices()) {
            if (offer(now, device) instanceof OfNvml offer) {
                devices.add(located(offer, device, created, recorder));
            }
        }
        Map<SharedDevice, ContainerEdits> shared = sharing.apply(claim.ref(), devices, recorder);
        for (SharedDevice device : devices) {
            ContainerEdits ofSharing = Objects.requireNonNullElse(shared.get(device), ContainerEdits.NONE);
            boolean isMade = offer(now, device.allocated()) instanceof OnDemand;
            prepared.put(device.allocated(), device.prepared(edits(device, ofSharing), isMade));
        }
        PreparedClaim answer = PreparedClaim.of(
                        claim.devices().stream().map(prepared::get).toList())
                .withEdits(common);
        return recorder.state().isEmpty()
                ? answer
                : answer.withState(recorder.state().toProviderState());
    }

    /** Comes first: the fabric is not changed for a claim that can't get its devices. */
    private void requireUsable(AllocatedDevice device, Offer offer, DriverSnapshot now) {
        if (offer instanceof Passthrough machine) {
            machines.requireUsable(device, machine);
        }
        Gpu gpu = offer.gpu();
        if (gpu != null && !device.adminAccess() && PartitionClaims.isFor(offer, now)) {
            allocator.requireEmpty(gpu);
        }
    }

    /** The driver's files are for containers, not for a virtual machine's program. */
    private ContainerEdits common(AllocatedClaim claim, DriverSnapshot now) {
        return claim.devices().stream().allMatch(device -> offer(now, device) instanceof Passthrough)
                ? MachineClaims.COMMON
                : edits.common(now.reading().driverVersion());
    }

    /** Returns the MIG devices to create, by the names of the claim's devices. */
    private Map<String, OnDemand> requested(AllocatedClaim claim, DriverSnapshot now) {
        Map<String, OnDemand> requested = new LinkedHashMap<>();
        for (AllocatedDevice device : claim.devices()) {
            Offer offer = offer(now, device);
            if (offer instanceof OfNvml nvidia) {
                edits.requireNode(nvidia.gpu());
            }
            if (offer instanceof OnDemand mig && !device.adminAccess()) {
                edits.requireCapabilities();
                requested.put(device.device().value(), mig);
            }
        }
        return requested;
    }

    private static Offer offer(DriverSnapshot now, AllocatedDevice device) {
        return now.devices()
                .offer(device.device())
                .orElseThrow(() ->
                        new PrepareException("Device %s no longer exists on this node".formatted(device.device())));
    }

    private SharedDevice located(
            OfNvml offer, AllocatedDevice device, Map<String, MigDevice> created, ClaimRecorder recorder) {
        String name = device.device().value();
        if (offer instanceof Offer.Existing existing) {
            allocator.requireExisting(existing.gpu(), existing.device());
            return new SharedDevice(device, existing.gpu(), existing.device());
        }
        if (offer instanceof OnDemand mig) {
            MigDevice found = device.adminAccess() ? allocator.existing(name, mig) : created.get(name);
            return new SharedDevice(device, mig.gpu(), found);
        }
        if (!device.adminAccess()) {
            allocator.requireWhole(offer.gpu(), recorder.deadline());
        }
        return new SharedDevice(device, offer.gpu(), null);
    }

    private ContainerEdits edits(SharedDevice device, ContainerEdits ofSharing) {
        ContainerEdits own = edits.of(device.gpu(), device.mig());
        ContainerEdits.Builder all = own.toBuilder().env(ofSharing.env()).mounts(ofSharing.mounts());
        return withShareLimit(device.allocated(), all).build();
    }

    /**
     * Adds the claim's amount of memory in bytes, if its share has one: programs have to respect it themselves.
     * {@code NVIDIA_SHARE_MEMORY_GPU_0} is for the device {@code gpu-0}.
     */
    private static ContainerEdits.Builder withShareLimit(AllocatedDevice device, ContainerEdits.Builder edits) {
        Quantity memory = device.consumedCapacity().get("memory");
        if (device.shareId() == null || memory == null || memory.amount().signum() <= 0) {
            return edits;
        }
        String name = device.device().value().replace('-', '_').toUpperCase(Locale.ROOT);
        return edits.env(
                "NVIDIA_SHARE_MEMORY_" + name, memory.amount().toBigInteger().toString());
    }

    /** Unprepares a claim of this boot. */
    void unprepare(HeldClaim claim, DriverSnapshot last, DriverContext runtime, ClaimContext context) {
        boolean isLost = Holders.isLost(claim);
        ClaimState recorded = isLost
                ? new ClaimState(suspected(claim, last, runtime), List.of(), null, null)
                : ClaimState.read(claim.state());
        ClaimRecorder recorder = new ClaimRecorder(recorded, context);
        machines.undo(recorder);
        if (isLost) {
            machines.reportLost(claim, last, runtime);
        }
        sharing.undo(claim.ref(), recorder);
        if (isLost && !clean(runtime, last, claim)) {
            throw new DraException("The sharing of claim %s can't be undone now; the driver's log has the reason"
                    .formatted(claim.ref()));
        }
        partitions.deactivate(claim, last, runtime, recorder);
        if (recorder.state().mig() != null) { // without MIG devices, NVML is not needed, and may hang or be absent
            nvml.inOneSession(() -> {
                allocator.destroy(last.reading().lost(), () -> migStatesBeside(claim.ref(), runtime), recorder);
                return true;
            });
        }
        restoreModes(runtime, last, claim);
    }

    /**
     * Restores the previous MIG modes of GPUs that no claim uses.
     *
     * @param leaving a claim that no longer counts, to restore only its GPUs; null for all GPUs
     */
    void restoreModes(DriverContext runtime, DriverSnapshot last, @Nullable HeldClaim leaving) {
        Supplier<Stream<HeldClaim>> others =
                () -> runtime.held().stream().filter(one -> !isSame(one, leaving) && !one.beforeReboot());
        allocator.restoreModes(
                gpu -> leaving == null
                        || offers(Stream.of(leaving), last)
                                .flatMap(Optional::stream)
                                .anyMatch(offer -> offer.uuid().equals(gpu)),
                gpu -> offers(others.get(), last).allMatch(offer -> offer.isPresent() && !isWhole(offer.get(), gpu)),
                () -> migStates(others.get()));
    }

    private static Stream<Optional<Offer>> offers(Stream<HeldClaim> claims, DriverSnapshot last) {
        return claims.flatMap(one -> one.devices().stream())
                .filter(device -> !device.adminAccess())
                .map(device -> last.devices().offer(device.device()));
    }

    private static boolean isWhole(Offer offer, String gpu) {
        return offer.isWhole() && offer.uuid().equals(gpu);
    }

    /**
     * Undoes sharing that belongs to no claim.
     *
     * @param leaving a claim that no longer counts; null for none
     * @return whether nothing is left
     */
    boolean clean(DriverContext runtime, DriverSnapshot last, @Nullable HeldClaim leaving) {
        return sharing.clean(() -> holders(runtime, last, leaving));
    }

    private static Holders holders(DriverContext runtime, DriverSnapshot last, @Nullable HeldClaim leaving) {
        return Holders.of(
                runtime.held().stream().filter(one -> !isSame(one, leaving)).toList(),
                device -> hardware(last, device));
    }

    /**
     * Returns the UUIDs of GPUs with settings of claims that no longer exist.
     *
     * @throws DraException if the record of a claim can't be read
     */
    Set<String> unrestored(DriverContext runtime, DriverSnapshot last) {
        return sharing.leftOver(holders(runtime, last, null)).keySet();
    }

    private static boolean isSame(HeldClaim claim, @Nullable HeldClaim other) {
        return other != null && claim.ref().uid().equals(other.ref().uid());
    }

    /** The UUID of an on-demand MIG device is unknown without its record. */
    static Optional<Set<String>> hardware(DriverSnapshot last, HeldDevice device) {
        Offer offer = last.devices().offer(device.device()).orElse(null);
        if (offer instanceof Offer.Existing existing) {
            return Optional.of(Set.of(existing.gpu().uuid(), existing.device().uuid()));
        }
        return offer instanceof Offer.Whole whole
                ? Optional.of(Set.of(whole.gpu().uuid()))
                : Optional.empty();
    }

    private ProviderState suspected(HeldClaim claim, DriverSnapshot last, DriverContext runtime) {
        Map<String, OnDemand> allocated = new LinkedHashMap<>();
        for (HeldDevice device : claim.devices()) {
            Offer offer = last.devices().offer(device.device()).orElse(null);
            if (offer instanceof OnDemand mig && !device.adminAccess()) {
                allocated.put(device.device().value(), mig);
            }
        }
        return allocator.suspected(allocated, migStates(runtime));
    }
}
