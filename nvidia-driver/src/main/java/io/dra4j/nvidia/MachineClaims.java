// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.nvidia.vfio.VfioDeviceConfig;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the GPUs for virtual machines in a node's claims. Thread-safe.
 *
 * @param whenTaken runs when NVIDIA's driver has lost a GPU
 */
record MachineClaims(Passthrough passthrough, MigDeviceAllocator allocator, Runnable whenTaken) {

    /** Keeps everything of NVIDIA except the claim's devices out of a virtual machine's container. */
    static final ContainerEdits COMMON =
            ContainerEdits.builder().env("NVIDIA_VISIBLE_DEVICES", "void").build();

    private static final Logger LOG = LoggerFactory.getLogger(MachineClaims.class);

    /**
     * Ensures that no other claim uses a GPU in its other form; this driver does not rely on the counters that keep the
     * scheduler from allocating both.
     */
    void requireAlone(ClaimRef claim, Offer wanted, DriverSnapshot now, DriverContext runtime) {
        if (now.devices().offers().values().stream().noneMatch(MachineClaims::isOfMachine)) {
            return; // no GPU has another form, and many claims may be held
        }
        for (HeldClaim other : runtime.held()) {
            if (!other.ref().uid().equals(claim.uid()) && !other.beforeReboot()) {
                other.devices().stream()
                        .filter(device -> !device.adminAccess())
                        .filter(device -> excludes(device, wanted, now))
                        .findFirst()
                        .ifPresent(device -> refuse(wanted, device, other.ref()));
            }
        }
    }

    private static boolean excludes(HeldDevice device, Offer wanted, DriverSnapshot now) {
        return now.devices()
                .offer(device.device())
                .filter(other -> other.pci().equals(wanted.pci()))
                .filter(other -> isOfMachine(other) || isOfMachine(wanted))
                .isPresent();
    }

    private static boolean isOfMachine(Offer offer) {
        return offer instanceof Offer.Passthrough;
    }

    private static void refuse(Offer wanted, HeldDevice device, ClaimRef holder) {
        throw new PrepareException(
                "GPU %s is in use as %s by claim %s/%s: a virtual machine and containers can't share a GPU"
                        .formatted(wanted.pci(), device.device(), holder.namespace(), holder.name()));
    }

    /** Throws a PrepareException if a GPU can't be assigned to a virtual machine; changes nothing. */
    void requireUsable(AllocatedDevice device, Offer.Passthrough offer) {
        if (device.adminAccess()) {
            throw new PrepareException(
                    "%s is not available with admin access: a GPU assigned to a virtual machine is exclusive"
                            .formatted(device.device()));
        }
        passthrough.requireUsable(offer.pci()); // first: NVML can't tell why it no longer sees the GPU
    }

    /** Takes a GPU from NVIDIA's driver; {@link #requireUsable} must have been called for it. */
    PreparedDevice prepare(AllocatedDevice device, Offer.Passthrough offer, ClaimRecorder recorder) {
        Gpu gpu = offer.gpu();
        if (gpu != null) {
            allocator.requireWhole(gpu, recorder.deadline());
        }
        ContainerEdits edits = passthrough.take(offer, config(device), recorder, whenTaken);
        AttributeValue address = AttributeValue.of(offer.pci().text());
        return PreparedDevice.of(device, edits)
                .withMetadata(new DeviceMetadata(Map.of(StandardAttributes.PCI_BUS_ID, address), null));
    }

    private static VfioDeviceConfig config(AllocatedDevice device) {
        return device.configs().stream()
                .map(AppliedConfig::value)
                .filter(VfioDeviceConfig.class::isInstance)
                .map(VfioDeviceConfig.class::cast)
                .findFirst()
                .orElse(VfioDeviceConfig.DEFAULT);
    }

    /**
     * Reports the GPUs of a claim whose record is lost: it is unknown who bound them, and what an administrator has
     * bound must stay bound.
     */
    void reportLost(HeldClaim claim, DriverSnapshot last, DriverContext runtime) {
        for (HeldDevice device : claim.devices()) {
            last.devices()
                    .offer(device.device())
                    .filter(MachineClaims::isOfMachine)
                    .ifPresent(offer -> reportLost(claim.ref(), device, offer, runtime));
        }
    }

    private static void reportLost(ClaimRef claim, HeldDevice device, Offer offer, DriverContext runtime) {
        String message =
                "GPU %s stays bound to vfio-pci, if it is bound: the record of claim %s/%s is lost, so it is unknown whether the claim took it from nvidia; an administrator must return it with driver_override, unbind and bind"
                        .formatted(offer.pci(), claim.namespace(), claim.name());
        LOG.atWarn().addKeyValue("device", device.device()).log(message);
        runtime.notice(device.device().value(), message);
    }

    /**
     * Returns the GPUs of a claim to their drivers.
     *
     * @throws io.dra4j.api.error.DraException if one is still in use
     */
    void undo(ClaimRecorder recorder) {
        if (passthrough.giveBack(recorder)) {
            whenTaken.run();
        }
    }
}
