// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.sharing.SharingSettings.StrategyName;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.FreshFile;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoCheckpointWriter;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Entry;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Group;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.MigEntry;
import io.dra4j.nvidia.takeover.GoForm;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.takeover.HandOver;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Hands the claims of this driver over to NVIDIA's own driver, all or none. */
record CheckpointExport(String driver, Nvml nvml, NodeDevices.Settings settings, Passthrough passthrough, GoForm form) {

    /**
     * Writes the checkpoint, and moves the journal away.
     *
     * @throws DraException if a claim can't be handed over; nothing has changed then
     */
    String run(HandOver handOver) {
        Path file = handOver.directory().resolve(GoCheckpoint.FILE);
        byte[] content = checkpoint(handOver.bootId(), handOver.claims());
        try { // durable before the journal is moved away
            FreshFile.replace(file, content, FreshFile.OF_OWNER, StandardOpenOption.SYNC);
        } catch (IOException e) {
            throw new DraException("Can't write %s: %s".formatted(file, e), e);
        }
        handOver.finish();
        return "%s claims are in %s; start NVIDIA's driver now"
                .formatted(handOver.claims().size(), file);
    }

    /**
     * Returns the checkpoint of claims.
     *
     * @throws DraException if one can't be handed over, with all reasons
     */
    byte[] checkpoint(String bootId, List<HeldClaim> claims) {
        GoCheckpointWriter writer = new GoCheckpointWriter(driver, bootId, form);
        List<String> refused = new ArrayList<>();
        List<HeldClaim> others = withoutMachines(claims, refused);
        if (!others.isEmpty()) {
            try {
                NodeDevices devices = devices(claims);
                others.forEach(claim -> add(claim, devices, writer, refused));
            } catch (NvmlException e) {
                if (refused.isEmpty()) {
                    throw e;
                }
                refused.add("- other claims were not checked: " + e.getMessage());
            }
        }
        if (!refused.isEmpty()) {
            throw new DraException("""
                    NVIDIA's driver can't continue with these claims:
                    %s
                    Start this driver again, and drain the node with it:
                      kubectl drain %s --ignore-daemonsets --delete-emptydir-data""".formatted(String.join("\n", refused), settings.nodeName()));
        }
        return writer.toBytes();
    }

    /** Refuses claims whose GPUs are assigned to virtual machines, before reading NVML, which may fail without them. */
    private static List<HeldClaim> withoutMachines(List<HeldClaim> claims, List<String> refused) {
        List<HeldClaim> others = new ArrayList<>();
        for (HeldClaim claim : claims) {
            try {
                if (ClaimState.read(claim.state()).lent() == null) {
                    others.add(claim);
                } else {
                    refused.add(refused(claim.ref(), ofMachine(claim)));
                }
            } catch (DraException e) { // a newer driver's record
                refused.add(refused(claim.ref(), String.valueOf(e.getMessage())));
            }
        }
        return others;
    }

    private static String ofMachine(HeldClaim claim) {
        return "its GPUs %s are passed through to a virtual machine (vfio), and only this driver returns them to nvidia"
                .formatted(new TreeSet<>(Passthrough.lent(List.of(claim))));
    }

    private static String refused(ClaimRef claim, String reason) {
        return "- claim %s: %s".formatted(claim, reason);
    }

    private NodeDevices devices(List<HeldClaim> claims) {
        PassthroughGpus machines = passthrough.gpus(claims);
        return NodeDevices.of(machines.readOthers(nvml::read), settings, machines);
    }

    private void add(HeldClaim claim, NodeDevices devices, GoCheckpointWriter writer, List<String> refused) {
        try {
            writer.add(claim.ref().uid(), groups(claim, devices));
        } catch (DraException e) {
            refused.add(refused(claim.ref(), String.valueOf(e.getMessage())));
        }
    }

    /** Devices with time slices form a separate group: that driver resets them together. */
    private List<Group> groups(HeldClaim claim, NodeDevices devices) {
        List<SharingRecord> sharing = ClaimState.read(claim.state()).sharing();
        for (SharingRecord one : sharing) {
            if (!one.strategy().equals(StrategyName.TimeSlicing.name())) {
                throw new DraException(
                        "it shares devices by %s, which only this driver can end".formatted(one.strategy()));
            }
        }
        List<Entry> sliced = new ArrayList<>();
        List<Entry> others = new ArrayList<>();
        for (HeldDevice device : claim.devices()) {
            Entry entry = entry(device, devices);
            boolean isSliced = sharing.stream().anyMatch(one -> one.targets().contains(entry.uuid()));
            (isSliced ? sliced : others).add(entry);
        }
        List<Group> groups = new ArrayList<>();
        if (!sliced.isEmpty()) {
            groups.add(new Group(sliced, true));
        }
        if (!others.isEmpty()) {
            groups.add(new Group(others, false));
        }
        return groups;
    }

    private Entry entry(HeldDevice device, NodeDevices devices) {
        if (device.shareId() != null) {
            throw new DraException(
                    "it has a share of %s, whose CDI name differs in NVIDIA's driver".formatted(device.device()));
        }
        Offer offer = devices.offer(device.device())
                .orElseThrow(
                        () -> new DraException("device %s no longer exists on this node".formatted(device.device())));
        if (!(offer instanceof Offer.OfNvml present)) {
            throw new DraException(
                    "device %s is passed through to a virtual machine (vfio), and only this driver keeps it bound to vfio-pci"
                            .formatted(device.device()));
        }
        if (offer instanceof Offer.Whole whole) {
            return new Entry(device, whole.gpu().uuid(), null);
        }
        MigDevice mig = mig(device, offer);
        Gpu gpu = present.gpu();
        return new Entry(
                device,
                mig.uuid(),
                new MigEntry(
                        gpu.minor(),
                        mig.gpuInstance(),
                        mig.computeInstance(),
                        gpu.uuid(),
                        gpu.pci().text()));
    }

    private MigDevice mig(HeldDevice device, Offer offer) {
        Optional<MigDevice> found = offer instanceof Offer.Existing existing
                ? Optional.of(existing.device())
                : MigDeviceAllocator.find(nvml, (Offer.OnDemand) offer);
        return found.orElseThrow(() -> new DraException("MIG device %s no longer exists".formatted(device.device())));
    }
}
