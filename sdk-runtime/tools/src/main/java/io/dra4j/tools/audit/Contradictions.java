// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.JournalLoss;
import io.dra4j.runtime.internal.claim.PreparedResults;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds.HoldConflict;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import io.dra4j.tools.audit.Views.OtherCheckpoint;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/** All contradictions that are looked for on a node of any driver. */
final class Contradictions {

    private static final Map<String, Function<Views, CheckResult>> ALL = all();

    private Contradictions() {}

    private static Map<String, Function<Views, CheckResult>> all() {
        Map<String, Function<Views, CheckResult>> all = new LinkedHashMap<>();
        all.put("journal-damaged", JournalAlone::damaged);
        all.put("claim-damaged", JournalAlone::heldAsDamaged);
        all.put("claim-unfinished", JournalAlone::unfinished);
        all.put("earlier-boot", JournalAlone::earlierBoot);
        all.put("device-held-twice", JournalAlone::heldTwice);
        all.put("spec-missing", JournalAndSpecs::missing);
        all.put("spec-lacks-device", JournalAndSpecs::lacksDevice);
        all.put("spec-unknown", JournalAndSpecs::unknown);
        all.put("kubelet-state-damaged", JournalAndKubelet::damaged);
        all.put("kubelet-forgot", JournalAndKubelet::forgot);
        all.put("journal-lacks-claim", JournalAndKubelet::unknown);
        all.put("claim-gone", JournalAndClaims::gone);
        all.put("claim-deleted-in-use", JournalAndClaims::deletedInUse);
        all.put("claim-replaced", JournalAndClaims::replaced);
        all.put("devices-differ", JournalAndClaims::differ);
        all.put("device-gone", JournalAndHardware::gone);
        all.put("device-other-hardware", JournalAndHardware::other);
        all.put("other-checkpoint", JournalAndOther::left);
        return all;
    }

    /** Returns the ids of the checks, in their order. */
    static List<String> ids() {
        return List.copyOf(ALL.keySet());
    }

    /** Returns the checks of a node's views. */
    static List<Check> of(Views views) {
        List<Check> checks = new ArrayList<>();
        ALL.forEach((id, look) -> checks.add(Check.of(id, () -> look.apply(views))));
        return checks;
    }

    /** Contradictions between the journal and the checkpoint of a Go driver. */
    private static final class JournalAndOther {

        private JournalAndOther() {}

        /**
         * Finds claims that only the other driver knows.
         *
         * @throws NotCheckedException if the file can't be read
         */
        static CheckResult left(Views views) {
            OtherCheckpoint other = views.other().get();
            Path file = views.driver().checkpoint();
            if (!other.damage().isEmpty()) {
                return CheckResult.found(FindingWords.finding(
                        "other-checkpoint/damaged", file.toString(), removal(views, file), other.damage()));
            }
            List<Finding> findings = other.uids().stream()
                    .filter(uid -> !views.isRecorded(uid))
                    .map(uid -> FindingWords.finding("other-checkpoint", "claim " + uid, removal(views, file), file))
                    .toList();
            return CheckResult.of(findings, other.uids().size(), "claim");
        }

        /** Removes the file once no pod has a claim that only it may list. */
        private static List<String> removal(Views views, Path file) {
            String node = views.driver().node();
            return List.of(
                    "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node),
                    "sudo rm " + file,
                    "kubectl uncordon " + node);
        }
    }

    /** Contradictions between the journal and the devices that the node has. */
    private static final class JournalAndHardware {

        private JournalAndHardware() {}

        static CheckResult gone(Views views) {
            Inventory hardware = views.hardware().get();
            return each(
                    views,
                    (claim, device) -> isHere(hardware, device)
                                    && hardware.device(device.pool(), device.device())
                                            .isEmpty()
                            ? Optional.of(FindingWords.finding(
                                    "device-gone",
                                    claim.ref(),
                                    new Fixes(views).deletePods(claim.ref()),
                                    device.pool(),
                                    device.device()))
                            : Optional.empty());
        }

        /** A pool that another component publishes is not read here. */
        private static boolean isHere(Inventory hardware, HeldDevice device) {
            return hardware.pool(device.pool())
                    .filter(pool -> pool.placement() instanceof Placement.PublishedElsewhere)
                    .isEmpty();
        }

        static CheckResult other(Views views) {
            Inventory hardware = views.hardware().get();
            return each(
                    views,
                    (claim, device) -> hardware.device(device.pool(), device.device())
                            .map(Device::physicalId)
                            .filter(now -> device.physicalId() != null)
                            .filter(now -> !now.equals(device.physicalId()))
                            .map(now -> FindingWords.finding(
                                    "device-other-hardware",
                                    claim.ref(),
                                    new Fixes(views).deletePods(claim.ref()),
                                    device.pool(),
                                    device.device(),
                                    device.physicalId(),
                                    now)));
        }

        private static CheckResult each(Views views, BiFunction<ClaimRecord, HeldDevice, Optional<Finding>> look) {
            List<Finding> findings = new ArrayList<>();
            int devices = 0;
            for (ClaimRecord claim : views.prepared()) {
                for (HeldDevice device : claim.devices()) {
                    devices++;
                    look.apply(claim, device).ifPresent(findings::add);
                }
            }
            return CheckResult.of(findings, devices, "device");
        }
    }

    /** Contradictions between the journal and the CDI specs. */
    private static final class JournalAndSpecs {

        private JournalAndSpecs() {}

        static CheckResult missing(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (ClaimRecord claim : views.prepared()) {
                if (!needed(views, claim).isEmpty()
                        && !specs.containsKey(claim.ref().uid())) {
                    findings.add(FindingWords.finding(
                            "spec-missing",
                            claim.ref(),
                            new Fixes(views).restartDriver(),
                            views.driver().cdiRoot()));
                }
            }
            return CheckResult.of(findings, views.prepared().size(), "prepared claim");
        }

        static CheckResult lacksDevice(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (ClaimRecord claim : views.prepared()) {
                List<String> lacking = new ArrayList<>(needed(views, claim));
                lacking.removeAll(specs.getOrDefault(claim.ref().uid(), lacking));
                if (!lacking.isEmpty()) {
                    findings.add(FindingWords.finding(
                            "spec-lacks-device",
                            claim.ref(),
                            new Fixes(views).restartDriver(),
                            String.join(", ", lacking)));
                }
            }
            return CheckResult.of(findings, specs.size(), "spec");
        }

        private static List<String> needed(Views views, ClaimRecord claim) {
            ClaimRecord.Results results = claim.results();
            if (results == null) {
                return List.of();
            }
            return views.driver().specs().ids(claim.ref().uid(), PreparedResults.specDevices(results)).stream()
                    .map(id -> id.substring(id.indexOf('=') + 1))
                    .toList();
        }

        static CheckResult unknown(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (String uid : specs.keySet()) {
                if (!views.isRecorded(uid) && views.kubeletClaim(uid).isEmpty()) {
                    findings.add(unknown(views, uid));
                }
            }
            return CheckResult.of(findings, specs.size(), "spec");
        }

        private static Finding unknown(Views views, String uid) {
            return FindingWords.finding(
                    "spec-unknown",
                    "CDI spec of claim " + uid,
                    List.of(
                            "kubectl get resourceclaims -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid | grep "
                                    + uid,
                            "# if that shows a claim, delete its pods; if it shows none:",
                            "sudo rm " + views.driver().specs().file(uid)));
        }
    }

    /** Contradictions between what the node holds and the claims in the API. */
    private static final class JournalAndClaims {

        private JournalAndClaims() {}

        static CheckResult gone(Views views) {
            views.requireClaims();
            List<Finding> findings = views.recorded().stream()
                    .map(ClaimRecord::ref)
                    .filter(ref ->
                            views.object(ref).isEmpty() && views.named(ref).isEmpty())
                    .filter(ref -> views.kubeletClaim(ref.uid()).isEmpty())
                    .map(ref -> FindingWords.finding("claim-gone", ref, new Fixes(views).awaitDriver()))
                    .toList();
            return CheckResult.of(findings, views.recorded().size(), "claim");
        }

        static CheckResult deletedInUse(Views views) {
            views.requireClaims();
            List<KubeletClaim> held = JournalAndKubelet.intact(views).prepared();
            List<Finding> findings = held.stream()
                    .filter(claim -> views.object(claim.ref()).isEmpty())
                    .filter(claim -> !isReplaced(views, claim.ref()))
                    .map(claim -> FindingWords.finding(
                            "claim-deleted-in-use",
                            claim.ref(),
                            new Fixes(views).deletePodsByUid(claim.pods()),
                            String.join(", ", claim.devices())))
                    .toList();
            return CheckResult.of(findings, held.size(), "kubelet claim");
        }

        private static boolean isReplaced(Views views, ClaimRef ref) {
            return views.isRecorded(ref.uid()) && views.named(ref).isPresent();
        }

        static CheckResult replaced(Views views) {
            views.requireClaims();
            List<Finding> findings = views.recorded().stream()
                    .map(ClaimRecord::ref)
                    .filter(ref ->
                            views.object(ref).isEmpty() && views.named(ref).isPresent())
                    .map(ref -> replaced(views, ref))
                    .toList();
            return CheckResult.of(findings, views.recorded().size(), "claim");
        }

        private static Finding replaced(Views views, ClaimRef ref) {
            String now = views.named(ref).map(ClaimRef::uid).orElseThrow();
            boolean isFree =
                    views.isKubeletIntact() && views.kubeletClaim(ref.uid()).isEmpty();
            String id = isFree ? "claim-replaced/without-pods" : "claim-replaced";
            return FindingWords.finding(id, ref, new Fixes(views).deletePods(ref), now);
        }

        static CheckResult differ(Views views) {
            views.requireClaims();
            Allocations allocations = new Allocations(views.driver().name(), List.of());
            List<Finding> findings = views.recorded().stream()
                    .filter(claim -> views.isOfThisBoot(claim) && claim.results() != null)
                    .flatMap(claim -> differ(views, allocations, claim).stream())
                    .toList();
            return CheckResult.of(findings, views.recorded().size(), "claim");
        }

        private static Optional<Finding> differ(Views views, Allocations allocations, ClaimRecord claim) {
            Set<HeldDevice> held = allocations.unidentified(claim.devices());
            return views.object(claim.ref())
                    .map(object -> allocated(allocations, claim.ref(), object))
                    .filter(allocated -> !allocated.equals(held))
                    .map(allocated -> FindingWords.finding(
                            "devices-differ",
                            claim.ref(),
                            new Fixes(views).deletePods(claim.ref()),
                            names(held),
                            names(allocated)));
        }

        private static Set<HeldDevice> allocated(Allocations allocations, ClaimRef ref, ClaimObject object) {
            try {
                return new HashSet<>(allocations.devices(ref, object));
            } catch (PrepareException e) { // nothing of this driver
                return Set.of();
            }
        }

        private static String names(Set<HeldDevice> devices) {
            Set<String> names = new TreeSet<>();
            devices.forEach(one -> names.add("%s/%s%s for %s"
                    .formatted(
                            one.pool(),
                            one.device(),
                            one.shareId() == null ? "" : " (share " + one.shareId() + ")",
                            one.request())));
            return names.isEmpty() ? "no devices" : String.join(", ", names);
        }
    }

    /** Contradictions inside the journal. */
    private static final class JournalAlone {

        private JournalAlone() {}

        static CheckResult damaged(Views views) {
            JournalLoss loss = views.journal().get().loss();
            if (loss.damagedLines() == 0 && loss.complete()) {
                return CheckResult.healthy("all lines are intact");
            }
            List<String> fix = new ArrayList<>();
            fix.add("java -jar DRIVER.jar journal inspect " + views.driver().journal());
            fix.addAll(new Fixes(views).restartDriver());
            return CheckResult.found(FindingWords.finding(
                    "journal-damaged",
                    views.driver().journal().toString(),
                    fix,
                    loss.damagedLines(),
                    loss.complete() ? "" : ", and do not name all claims that they were about"));
        }

        static CheckResult heldAsDamaged(Views views) {
            return each(
                    views,
                    claim -> claim.phase() == Phase.DAMAGED,
                    claim -> FindingWords.finding(
                            "claim-damaged", claim.ref(), new Fixes(views).deletePods(claim.ref())));
        }

        static CheckResult unfinished(Views views) {
            return each(
                    views,
                    claim -> views.isOfThisBoot(claim)
                            && (claim.phase() == Phase.PREPARING || claim.phase() == Phase.UNPREPARING),
                    claim -> FindingWords.finding(
                            "claim-unfinished",
                            claim.ref(),
                            List.of(
                                    "kubectl -n %s describe resourceclaim %s"
                                            .formatted(
                                                    claim.ref().namespace(),
                                                    claim.ref().name()),
                                    "# look again in two minutes; if it stays, the driver's log names the claim and the reason"),
                            claim.phase().name().toLowerCase(Locale.ROOT)));
        }

        static CheckResult earlierBoot(Views views) {
            return each(
                    views,
                    claim -> !views.isOfThisBoot(claim),
                    claim -> FindingWords.finding(
                            "earlier-boot", claim.ref(), new Fixes(views).deletePods(claim.ref())));
        }

        private static CheckResult each(Views views, Predicate<ClaimRecord> is, Function<ClaimRecord, Finding> found) {
            List<ClaimRecord> all = views.recorded();
            return CheckResult.of(all.stream().filter(is).map(found).toList(), all.size(), "claim");
        }

        /** Compares each claim with those before it, so that a pair is found once. */
        static CheckResult heldTwice(Views views) {
            Inventory hardware = views.hardware().orElse(Inventory.of());
            List<ClaimRecord> before = new ArrayList<>();
            List<Finding> findings = new ArrayList<>();
            DeviceHolds holds = new DeviceHolds(views.driver().name());
            for (ClaimRecord claim : views.recorded()) {
                if (views.isOfThisBoot(claim)) {
                    conflict(holds, claim, before, hardware)
                            .ifPresent(conflict -> findings.add(heldTwice(views, claim, conflict)));
                    before.add(claim);
                }
            }
            return CheckResult.of(findings, before.size(), "claim");
        }

        private static Optional<HoldConflict> conflict(
                DeviceHolds holds, ClaimRecord claim, List<ClaimRecord> others, Inventory hardware) {
            try {
                return holds.conflict(claim.ref().uid(), claim.devices(), ClaimIndex.of(others), hardware);
            } catch (PrepareException e) { // it takes more than there is, even without others
                return Optional.empty();
            }
        }

        private static Finding heldTwice(Views views, ClaimRecord claim, HoldConflict conflict) {
            return FindingWords.finding(
                    "device-held-twice",
                    claim.ref(),
                    new Fixes(views).deletePods(claim.ref()),
                    conflict.problem(),
                    FindingWords.claim(conflict.holders().get(0).ref()));
        }
    }
}
