// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.Offer.OfNvml;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoClaim;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice.Kind;
import io.dra4j.runtime.takeover.TakeOver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the claims that NVIDIA's own driver has prepared, as its checkpoint lists them.
 *
 * <p>Claims are refused if this driver can't undo their preparation: claims with an MPS daemon, which is a Deployment
 * of that driver; claims passed through to virtual machines; shares, which have other CDI names; and claims whose
 * preparation was not finished and may have changed hardware.
 */
final class NvidiaTakeOver implements TakeOver {

    private static final Logger LOG = LoggerFactory.getLogger(NvidiaTakeOver.class);
    static final String PUT_ASIDE = ".taken-over";

    /** The suffix of a file that can't be used, for administrators. */
    static final String UNUSED = ".unused";

    private final Path file;
    private final Node node;
    private final Edits edits;
    private final MigDeviceAllocator allocator;
    private final DeviceSharing sharing;
    private final Map<String, GoClaim> left = new LinkedHashMap<>(); // by UID
    private final List<Runnable> whenTaken = new ArrayList<>(); // once the journal has the claims
    private @Nullable DriverSnapshot snapshot;

    record Node(Nvml nvml, NodeDevices.Settings settings, EarlierBoot earlierBoot) {}

    NvidiaTakeOver(Node node, Edits edits, DeviceSharing sharing) {
        this.file = node.earlierBoot().file();
        this.node = node;
        this.edits = edits;
        this.allocator = MigDeviceAllocator.ofModesThatStay(node.nvml());
        this.sharing = sharing;
    }

    @Override
    public boolean hasRun() {
        return Files.exists(file);
    }

    @Override
    public Set<String> claims(String bootId) {
        GoCheckpoint checkpoint = read();
        if (isOfEarlierBoot(checkpoint, bootId)) {
            return Set.of();
        }
        checkpoint.left(bootId).forEach(claim -> left.put(claim.uid(), claim));
        return Set.copyOf(left.keySet());
    }

    private GoCheckpoint read() {
        try {
            return GoCheckpoint.read(file).orElse(new GoCheckpoint("", List.of()));
        } catch (DraException e) {
            throw refused(String.valueOf(e.getMessage()), e);
        }
    }

    private DraException refused(String why, DraException cause) {
        return new DraException("""
                %1$s
                It may list claims of running containers, and a drain finishes only if a driver unprepares them. If NVIDIA's driver can start with the file, run it again, and drain the node with it:
                  kubectl drain %2$s --ignore-daemonsets --delete-emptydir-data
                If it can't, move the file away: this driver then starts without the claims, and the node can be drained with it. The setup of the claims stays:
                  kubectl cordon %2$s
                  sudo mv %3$s %3$s%4$s
                  kubectl drain %2$s --ignore-daemonsets --delete-emptydir-data
                  kubectl uncordon %2$s
                If the file can't be moved, %5$s starts the driver without its claims; remove the option and the file after the drain.""".formatted(why, node.settings().nodeName(), file, UNUSED, alternative()), cause);
    }

    private boolean isOfEarlierBoot(GoCheckpoint checkpoint, String bootId) {
        if (checkpoint.hasNoBoot()) {
            return wasWrittenBeforeThisBoot(checkpoint);
        }
        if (checkpoint.isOfEarlierBoot(bootId)) {
            LOG.atInfo().log("The claims of NVIDIA's driver ended with an earlier boot");
            return true;
        }
        return false;
    }

    /** Older releases do not record the boot. */
    private boolean wasWrittenBeforeThisBoot(GoCheckpoint checkpoint) {
        Optional<EarlierBoot.Age> age;
        try {
            age = node.earlierBoot().of(checkpoint.claims());
        } catch (DraException e) {
            throw refused(
                    "The checkpoint of NVIDIA's driver, %s, does not name the boot of its claims, and it is unknown whether that is this one: %s"
                            .formatted(file, e.getMessage()),
                    e);
        }
        age.ifPresent(this::warnOfEarlierBoot);
        return age.isPresent();
    }

    private void warnOfEarlierBoot(EarlierBoot.Age age) {
        LOG.atWarn()
                .addKeyValue("path", file)
                .addKeyValue("written", age.written())
                .addKeyValue("booted", age.booted())
                .log(
                        "The checkpoint of NVIDIA's driver was written before this boot, so its claims have ended: they are not taken over, and the file gets the suffix {}",
                        PUT_ASIDE);
    }

    @Override
    public Inventory inventory() {
        Reading reading = node.nvml().read();
        DriverSnapshot now = new DriverSnapshot("", reading, NodeDevices.of(reading, node.settings()), List.of());
        snapshot = now;
        return now.devices().inventory();
    }

    /** Only whole GPUs have time slices, and only if a configuration requests them. */
    @Override
    public List<HeldDevice> lost(String uid) {
        GoClaim before = left(uid);
        NodeDevices now = Objects.requireNonNull(snapshot, "read before").devices();
        PoolName pool = new PoolName(node.settings().nodeName());
        List<HeldDevice> devices = new ArrayList<>();
        List<String> gpus = new ArrayList<>();
        for (DeviceName name : names(before, now)) {
            devices.add(HeldDevice.builder("unknown", pool, name).build());
            if (before.hasConfig() && now.offer(name).orElse(null) instanceof Offer.Whole whole) {
                gpus.add(whole.gpu().uuid());
            }
        }
        whenTaken.add(() -> sharing.suspect(gpus)); // they may have time slices
        before.mpsDaemons()
                .forEach(daemon -> LOG.atWarn()
                        .addKeyValue("claim.uid", uid)
                        .log(
                                "The MPS daemon {} of a deleted claim stays; delete its Deployment, which NVIDIA's driver has created",
                                daemon));
        return devices;
    }

    /**
     * Returns the prepared devices; if the record does not name them, the allocated ones, which may belong to other
     * drivers.
     */
    private static List<DeviceName> names(GoClaim claim, NodeDevices now) {
        boolean areNamed = claim.isPrepared() && claim.devices().stream().noneMatch(one -> one.kind() == Kind.UNKNOWN);
        return areNamed
                ? claim.devices().stream()
                        .map(device -> new DeviceName(device.name()))
                        .toList()
                : claim.allocated().stream()
                        .map(DeviceName::new)
                        .filter(name -> now.offer(name).isPresent())
                        .toList();
    }

    @Override
    public void check(String uid) {
        GoClaim before = left(uid);
        if (!before.isPrepared()) {
            throw new PrepareException("its preparation was not finished, and may have changed the hardware");
        }
        if (!before.mpsDaemons().isEmpty()) {
            throw new PrepareException("it has the MPS daemon %s, which is a Deployment of NVIDIA's driver"
                    .formatted(String.join(", ", before.mpsDaemons())));
        }
        before.devices().forEach(device -> requireKnown(uid, device));
    }

    private GoClaim left(String uid) {
        return Objects.requireNonNull(left.get(uid), "it was listed");
    }

    @Override
    public PreparedClaim adopt(AllocatedClaim claim) {
        GoClaim before = left(claim.ref().uid());
        requireSameDevices(claim, before);
        Map<String, String> uuids = new HashMap<>();
        before.devices().forEach(device -> uuids.put(device.name(), device.uuid()));
        return node.nvml().inOneSession(() -> adopt(claim, Objects.requireNonNull(snapshot, "read before"), uuids));
    }

    private static void requireSameDevices(AllocatedClaim claim, GoClaim before) {
        Set<String> allocated = new HashSet<>();
        for (AllocatedDevice device : claim.devices()) {
            allocated.add(device.device().value());
        }
        Set<String> prepared = new HashSet<>();
        before.devices().forEach(device -> prepared.add(device.name()));
        if (!prepared.equals(allocated)) {
            throw new PrepareException(
                    "it was prepared with the devices %s, but is allocated %s".formatted(prepared, allocated));
        }
    }

    private void requireKnown(String uid, GoDevice device) {
        if (device.kind() == Kind.VFIO) {
            throw new PrepareException(
                    "device %s is a GPU that is passed through to a virtual machine (vfio), and only NVIDIA's driver knows how to return it"
                            .formatted(device.name()));
        }
        if (device.kind() == Kind.UNKNOWN) {
            throw new PrepareException(
                    "device %s is of a kind that this driver does not know".formatted(device.name()));
        }
        String id = "%s=%s-%s".formatted(node.earlierBoot().cdiKind(), uid, device.name());
        if (device.isShare() || !device.cdiIds().equals(List.of(id))) {
            throw new PrepareException(
                    "device %s has the CDI name %s, not %s as in this driver; the kubelet keeps the former"
                            .formatted(device.name(), device.cdiIds(), id));
        }
    }

    /** Renames the checkpoint, which no longer counts, and keeps it for administrators. */
    @Override
    public void finish() {
        whenTaken.forEach(Runnable::run);
        try {
            if (Files.exists(file)) {
                Files.move(file, file.resolveSibling(file.getFileName() + PUT_ASIDE), StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new DraException("Can't rename %s, whose claims were taken over: %s".formatted(file, e), e);
        } finally {
            node.nvml().close();
        }
    }

    @Override
    public String alternative() {
        return "--take-over=ignore";
    }

    /**
     * Adopts a claim as if this driver had prepared it, in one NVML session; no hardware is changed.
     *
     * @param uuids the UUIDs of the GPUs and MIG devices by the names of the claim's devices
     * @throws PrepareException if they are not on this node now, or can't be undone here
     */
    private PreparedClaim adopt(AllocatedClaim claim, DriverSnapshot now, Map<String, String> uuids) {
        ContainerEdits common = edits.common(now.reading().driverVersion());
        Map<AllocatedDevice, OfNvml> offers = offers(claim, now);
        MigDeviceAllocator.Created existing = allocator.adopted(onDemand(offers));
        List<SharedDevice> devices = new ArrayList<>();
        offers.forEach((device, offer) -> devices.add(located(device, offer, existing, uuids)));
        DeviceSharing.Adopted shared = sharing.adopt(claim.ref(), devices);
        ClaimState state = new ClaimState(existing.state(), shared.records(), null, null);
        PreparedClaim adopted = PreparedClaim.of(devices.stream()
                        .map(one -> one.prepared(
                                edits.of(one.gpu(), one.mig()), offers.get(one.allocated()) instanceof OnDemand))
                        .toList())
                .withEdits(common);
        whenTaken.add(shared.whenTaken());
        return state.isEmpty() ? adopted : adopted.withState(state.toProviderState());
    }

    private static Map<AllocatedDevice, OfNvml> offers(AllocatedClaim claim, DriverSnapshot now) {
        Map<AllocatedDevice, OfNvml> offers = new LinkedHashMap<>();
        for (AllocatedDevice device : claim.devices()) {
            Offer offer = now.devices()
                    .offer(device.device())
                    .orElseThrow(() ->
                            new PrepareException("device %s no longer exists on this node".formatted(device.device())));
            if (!(offer instanceof OfNvml ofNvml)) {
                throw new PrepareException("device %s is passed through".formatted(device.device()));
            }
            offers.put(device, ofNvml);
        }
        return offers;
    }

    /** A device with admin access is used, but does not belong to the claim. */
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
}
