// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.mig.ForeignInstances.ForeignInstance;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoClaim;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.AuditedNode;
import io.dra4j.runtime.AuditedNode.AuditedClaims;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Audits a node's GPUs: compares MIG devices and sharing with what claims hold.
 *
 * @param known the GPUs as the driver last read them: some may be assigned to virtual machines
 */
record NvidiaAuditedNode(
        Nvml nvml,
        NodeDevices.Settings settings,
        DeviceSharing sharing,
        Passthrough passthrough,
        EarlierBoot earlierBoot,
        List<Gpu> known)
        implements AuditedNode {

    @Override
    public Inventory inventory(List<HeldClaim> held) {
        return snapshot(held).devices().inventory();
    }

    private MigDeviceAllocator allocator() {
        return MigDeviceAllocator.ofModesThatStay(nvml);
    }

    private DriverSnapshot snapshot(List<HeldClaim> held) {
        return DriverSnapshot.read(nvml, settings, passthrough, () -> held, known);
    }

    @Override
    public List<Check> checks(AuditedClaims claims) {
        return List.of(
                check("mig-leftover", () -> migLeftovers(claims.ofThisBoot())),
                check("mig-gone", () -> goneMigDevices(claims)),
                check("sharing-leftover", () -> sharingLeftovers(claims.ofThisBoot())),
                check("nvidia-checkpoint", () -> leftByNvidiasDriver(claims)));
    }

    /** A check uses one NVML session, if any: the first call of a session takes long. */
    private Check check(String id, Supplier<CheckResult> look) {
        return Check.of(id, () -> {
            try {
                return nvml.inOneSession(look);
            } catch (DraException e) { // from NVML, or for a newer driver's record
                throw new NotCheckedException(String.valueOf(e.getMessage()), e);
            }
        });
    }

    private CheckResult migLeftovers(List<HeldClaim> held) {
        if (!settings.dynamicMig()) {
            return CheckResult.healthy("no MIG devices are created for claims");
        }
        List<HeldClaim> lost = held.stream().filter(Holders::isLost).toList();
        DriverSnapshot now = snapshot(held);
        List<ForeignInstance> found = allocator()
                .foreignInstances(() -> NvidiaClaims.migStates(held.stream()))
                .find(now.reading().present());
        return new CheckResult(
                "each GPU instance belongs to a claim",
                found.stream()
                        .filter(one -> lost.stream().noneMatch(claim -> mayHave(claim, one, now)))
                        .map(NvidiaAuditedNode::leftover)
                        .toList());
    }

    /** A claim whose record is lost may hold what it was allocated, if that is known. */
    private static boolean mayHave(HeldClaim lost, ForeignInstance found, DriverSnapshot now) {
        if (lost.devices().isEmpty()) {
            throw new NotCheckedException(
                    "claim %s may have GPU instance %d of %s, and its record is lost: claim-damaged"
                            .formatted(lost.ref().uid(), found.instance().id(), found.gpu()));
        }
        return lost.devices().stream()
                .flatMap(device -> now.devices().offer(device.device()).stream())
                .anyMatch(offer -> offer instanceof OnDemand mig
                        && mig.gpu().uuid().equals(found.gpu())
                        && mig.placement().equals(found.instance().placement()));
    }

    private static Finding leftover(ForeignInstance foreign) {
        String gpu = foreign.gpu();
        int instance = foreign.instance().id();
        return new Finding(
                "mig-leftover",
                Severity.WARNING,
                "GPU instance %d of %s".formatted(instance, gpu),
                "no claim has it",
                "its memory slices are still offered, but claims that get them can't be prepared",
                List.of(
                        "sudo nvidia-smi mig -dci -gi %d -i %s".formatted(instance, gpu),
                        "sudo nvidia-smi mig -dgi -gi %d -i %s".formatted(instance, gpu)));
    }

    private CheckResult goneMigDevices(AuditedClaims claims) {
        List<Finding> findings = new ArrayList<>();
        for (HeldClaim claim : claims.ofThisBoot()) {
            Optional.ofNullable(ClaimState.read(claim.state()).mig()).stream()
                    .flatMap(state -> allocator().gone(state).stream())
                    .map(device -> gone(claim.ref(), device, claims.deletePods(claim.ref())))
                    .forEach(findings::add);
        }
        return new CheckResult("each MIG device of a claim exists", findings);
    }

    private static Finding gone(ClaimRef claim, String device, List<String> fix) {
        return new Finding(
                "mig-gone",
                Severity.ERROR,
                "claim %s/%s (%s)".formatted(claim.namespace(), claim.name(), claim.uid()),
                "its MIG device %s no longer exists".formatted(device),
                "its containers have lost the device, and can't be started again",
                fix);
    }

    /** The hardware is read only if a claim's record is lost: other records name what they share. */
    private CheckResult sharingLeftovers(List<HeldClaim> held) {
        DriverSnapshot now = held.stream().anyMatch(Holders::isLost) ? snapshot(held) : DriverSnapshot.NONE;
        Holders holders = Holders.of(held, device -> NvidiaClaims.hardware(now, device));
        return new CheckResult(
                "each time slice and MPS daemon belongs to a claim",
                sharing.leftOver(holders).values().stream().map(this::leftover).toList());
    }

    private Finding leftover(String what) {
        return new Finding(
                "sharing-leftover",
                Severity.WARNING,
                what,
                "no claim has it",
                "other claims of the GPU share it in a way that they did not request",
                List.of(
                        "# the driver ends it a minute after starting; if it remains, the driver's log has the reason:",
                        "kubectl get pods -A --field-selector spec.nodeName=" + settings.nodeName()));
    }

    private CheckResult leftByNvidiasDriver(AuditedClaims claims) {
        Set<String> held =
                claims.held().stream().map(claim -> claim.ref().uid()).collect(Collectors.toSet());
        GoCheckpoint found;
        try {
            found = GoCheckpoint.read(earlierBoot.file()).orElse(new GoCheckpoint("", List.of()));
        } catch (DraException e) {
            return CheckResult.found(unusable(String.valueOf(e.getMessage())));
        }
        return new CheckResult(
                "no claim of NVIDIA's driver is left",
                left(found, claims.bootId()).stream()
                        .filter(claim -> !held.contains(claim.uid()))
                        .map(this::leftByNvidiasDriver)
                        .toList());
    }

    /** Without a driver that unprepares its claims, a drain would never end. */
    private Finding unusable(String what) {
        String node = settings.nodeName();
        return new Finding(
                "nvidia-checkpoint",
                Severity.WARNING,
                earlierBoot.file().toString(),
                what,
                "this driver does not start with it, nor does NVIDIA's if it is damaged; without a driver,"
                        + " pods with claims do not terminate",
                List.of(
                        "kubectl cordon " + node,
                        "sudo mv %1$s %1$s%2$s    # this driver then starts without the claims"
                                .formatted(earlierBoot.file(), NvidiaTakeOver.UNUSED),
                        drain(),
                        "kubectl uncordon " + node));
    }

    private String drain() {
        return "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(settings.nodeName());
    }

    private List<GoClaim> left(GoCheckpoint found, String boot) {
        return found.hasNoBoot() && earlierBoot.of(found.claims()).isPresent() ? List.of() : found.left(boot);
    }

    private Finding leftByNvidiasDriver(GoClaim claim) {
        return new Finding(
                "nvidia-checkpoint",
                Severity.WARNING,
                "claim " + claim.uid(),
                claim.isPrepared()
                        ? "NVIDIA's driver has prepared it, and this one has not taken it over"
                        : "NVIDIA's driver has begun to prepare it, and may have changed the hardware for it",
                "its devices can't be withheld from other claims, and its setup stays",
                List.of(
                        "# the drain ends only while a driver runs: NVIDIA's, or this one with --take-over=ignore",
                        drain(),
                        "sudo rm " + earlierBoot.file(),
                        "kubectl uncordon " + settings.nodeName()));
    }

    @Override
    public void close() {
        nvml.close();
    }
}
