// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.Offer.OfNvml;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.state.ClaimState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Claims that another driver has prepared, as if this one had; no hardware is changed. */
final class AdoptedClaims {

    private final Edits edits;
    private final MigDeviceAllocator allocator;
    private final DeviceSharing sharing;

    AdoptedClaims(Edits edits, MigDeviceAllocator allocator, DeviceSharing sharing) {
        this.edits = edits;
        this.allocator = allocator;
        this.sharing = sharing;
    }

    /**
     * An adopted claim.
     *
     * @param whenTaken keeps what is beside the journal; to be run when the journal has the claim
     */
    record Adopted(PreparedClaim claim, Runnable whenTaken) {}

    /**
     * Adopts a claim, in a session of NVML.
     *
     * @param uuids the UUIDs of the GPUs and MIG devices by the names of the claim's devices
     * @throws PrepareException if they are not those of this node now, or can't be undone here
     */
    Adopted adopt(AllocatedClaim claim, Snapshot now, Map<String, String> uuids) {
        ContainerEdits common = edits.common(now.reading().driverVersion());
        Map<AllocatedDevice, OfNvml> offers = offers(claim, now);
        MigDeviceAllocator.Created existing = allocator.adopted(onDemand(offers));
        List<SharedDevice> devices = new ArrayList<>();
        offers.forEach((device, offer) -> devices.add(located(device, offer, existing, uuids)));
        DeviceSharing.Adopted shared = sharing.adopt(claim.ref(), devices);
        ClaimState state = new ClaimState(existing.state(), shared.records(), null);
        PreparedClaim adopted = PreparedClaim.of(devices.stream()
                        .map(one -> one.prepared(edits(one), offers.get(one.allocated()) instanceof OnDemand))
                        .toList())
                .withEdits(common);
        return new Adopted(state.isEmpty() ? adopted : adopted.withState(state.toProviderState()), shared.whenTaken());
    }

    /** Remembers that GPUs may have time slices, of a claim of which no more is known. */
    void suspect(List<String> gpus) {
        sharing.suspect(gpus);
    }

    private static Map<AllocatedDevice, OfNvml> offers(AllocatedClaim claim, Snapshot now) {
        Map<AllocatedDevice, OfNvml> offers = new LinkedHashMap<>();
        for (AllocatedDevice device : claim.devices()) {
            Offer offer = now.devices()
                    .offer(device.device())
                    .orElseThrow(() -> new PrepareException(
                            "device %s does not exist on this node any more".formatted(device.device())));
            if (!(offer instanceof OfNvml ofNvml)) {
                throw new PrepareException("device %s is passed through".formatted(device.device()));
            }
            offers.put(device, ofNvml);
        }
        return offers;
    }

    /** A device for administration is used, and not the claim's own. */
    private static Map<String, OnDemand> onDemand(Map<AllocatedDevice, OfNvml> offers) {
        Map<String, OnDemand> onDemand = new LinkedHashMap<>();
        offers.forEach((device, offer) -> {
            if (offer instanceof OnDemand mig && !device.adminAccess()) {
                onDemand.put(device.device().value(), mig);
            }
        });
        return onDemand;
    }

    private SharedDevice located(
            AllocatedDevice device, OfNvml offer, MigDeviceAllocator.Created existing, Map<String, String> uuids) {
        String name = device.device().value();
        MigDevice mig = existing.devices().get(name);
        if (offer instanceof Offer.Existing fixed) {
            mig = fixed.device();
        } else if (mig == null && offer instanceof OnDemand wanted) {
            mig = allocator.existing(name, wanted);
        }
        SharedDevice located = new SharedDevice(device, offer.gpu(), mig);
        if (!located.uuid().equals(uuids.get(name))) {
            throw new PrepareException("device %s is %s on this node, and was prepared as %s"
                    .formatted(name, located.uuid(), uuids.get(name)));
        }
        return located;
    }

    private ContainerEdits edits(SharedDevice device) {
        MigDevice mig = device.mig();
        return mig == null ? edits.whole(device.gpu()) : edits.mig(device.gpu(), mig);
    }
}
