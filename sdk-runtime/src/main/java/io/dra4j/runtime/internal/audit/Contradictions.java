// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.runtime.internal.audit.KubeletState.KubeletClaim;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.PreparedResults;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** All contradictions that are looked for on a node of any driver. */
final class Contradictions {

    private static final Map<String, Function<Views, Result>> ALL = all();

    private Contradictions() {}

    private static Map<String, Function<Views, Result>> all() {
        Map<String, Function<Views, Result>> all = new LinkedHashMap<>();
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
        ALL.forEach((id, look) -> checks.add(new ViewCheck(id, look, views)));
        return checks;
    }

    private record ViewCheck(String id, Function<Views, Result> view, Views views) implements Check {

        @Override
        public Result look() {
            return view.apply(views);
        }
    }

    /** Contradictions between the journal and the checkpoint of a driver in Go. */
    private static final class JournalAndOther {

        private JournalAndOther() {}

        /**
         * Finds claims that only the other driver knows.
         *
         * @throws NotCheckedException if the file can't be read
         */
        static Result left(Views views) {
            OtherCheckpoint other = views.other().get();
            Path file = views.driver().checkpoint();
            if (!other.damage().isEmpty()) {
                return new Result("", List.of(damaged(views, file, other.damage())));
            }
            List<Finding> findings = other.uids().stream()
                    .filter(uid -> !views.isRecorded(uid))
                    .map(uid -> left(views, file, uid))
                    .toList();
            return Words.result(findings, other.uids().size(), "claim");
        }

        private static Finding damaged(Views views, Path file, String damage) {
            return new Finding(
                    "other-checkpoint",
                    Severity.WARNING,
                    file.toString(),
                    damage,
                    "a driver in Go that comes back does not start with it, or loses its claims",
                    removal(views, file));
        }

        private static Finding left(Views views, Path file, String uid) {
            return new Finding(
                    "other-checkpoint",
                    Severity.WARNING,
                    "claim " + uid,
                    "%s lists it as prepared by a driver in Go, and the journal does not have it".formatted(file),
                    "this driver can't refuse its devices to others; a driver in Go that comes back"
                            + " takes it for prepared",
                    removal(views, file));
        }

        /** Removes the file once no pod has a claim that it alone may list. */
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

        static Result gone(Views views) {
            Inventory hardware = views.hardware().get();
            return each(
                    views,
                    (claim, device) -> isHere(hardware, device)
                                    && hardware.device(device.pool(), device.device())
                                            .isEmpty()
                            ? Optional.of(gone(views, claim, device))
                            : Optional.empty());
        }

        /** A pool that another component publishes is not read here. */
        private static boolean isHere(Inventory hardware, HeldDevice device) {
            return hardware.pool(device.pool())
                    .filter(pool -> pool.placement() instanceof Placement.PublishedElsewhere)
                    .isEmpty();
        }

        private static Finding gone(Views views, ClaimRecord claim, HeldDevice device) {
            return new Finding(
                    "device-gone",
                    Severity.ERROR,
                    Words.claim(claim.ref()),
                    "it has device %s/%s, which the node does not have any more"
                            .formatted(device.pool(), device.device()),
                    "its containers have lost the device, and can't be started again",
                    new Mend(views).deletePods(claim.ref()));
        }

        static Result other(Views views) {
            Inventory hardware = views.hardware().get();
            return each(
                    views,
                    (claim, device) -> hardware.device(device.pool(), device.device())
                            .map(Device::physicalId)
                            .filter(now -> device.physicalId() != null)
                            .filter(now -> !now.equals(device.physicalId()))
                            .map(now -> other(views, claim, device, now)));
        }

        private static Finding other(Views views, ClaimRecord claim, HeldDevice device, String now) {
            return new Finding(
                    "device-other-hardware",
                    Severity.ERROR,
                    Words.claim(claim.ref()),
                    "its device %s/%s was %s, and the name means %s now"
                            .formatted(device.pool(), device.device(), device.physicalId(), now),
                    "the driver refuses to prepare the claim again, so that no container gets other"
                            + " hardware than it was allocated",
                    new Mend(views).deletePods(claim.ref()));
        }

        private interface Look {
            Optional<Finding> at(ClaimRecord claim, HeldDevice device);
        }

        private static Result each(Views views, Look look) {
            List<Finding> findings = new ArrayList<>();
            int devices = 0;
            for (ClaimRecord claim : views.prepared()) {
                for (HeldDevice device : claim.devices()) {
                    devices++;
                    look.at(claim, device).ifPresent(findings::add);
                }
            }
            return Words.result(findings, devices, "device");
        }
    }

    /** Contradictions between the journal and the CDI specs. */
    private static final class JournalAndSpecs {

        private static final String RESTARTS =
                "a container of the claim that restarts fails with an unresolvable CDI device";

        private JournalAndSpecs() {}

        static Result missing(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (ClaimRecord claim : views.prepared()) {
                if (!needed(views, claim).isEmpty()
                        && !specs.containsKey(claim.ref().uid())) {
                    findings.add(new Finding(
                            "spec-missing",
                            Severity.ERROR,
                            Words.claim(claim.ref()),
                            "it is prepared, and has no CDI spec in "
                                    + views.driver().cdiRoot(),
                            RESTARTS + "; a driver that runs writes the spec again within 20 s",
                            new Mend(views).restartDriver()));
                }
            }
            return Words.result(findings, views.prepared().size(), "prepared claim");
        }

        static Result lacksDevice(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (ClaimRecord claim : views.prepared()) {
                List<String> lacking = new ArrayList<>(needed(views, claim));
                lacking.removeAll(specs.getOrDefault(claim.ref().uid(), lacking));
                if (!lacking.isEmpty()) {
                    findings.add(new Finding(
                            "spec-lacks-device",
                            Severity.ERROR,
                            Words.claim(claim.ref()),
                            "its CDI spec lacks " + String.join(", ", lacking),
                            RESTARTS + "; the driver writes the spec again when it starts",
                            new Mend(views).restartDriver()));
                }
            }
            return Words.result(findings, specs.size(), "spec");
        }

        private static List<String> needed(Views views, ClaimRecord claim) {
            ClaimRecord.Results results = claim.results();
            if (results == null) {
                return List.of();
            }
            return CdiSpecs.reading(views.driver().cdiRoot(), views.driver().name())
                    .ids(claim.ref().uid(), PreparedResults.specDevices(results))
                    .stream()
                    .map(id -> id.substring(id.indexOf('=') + 1))
                    .toList();
        }

        static Result unknown(Views views) {
            Map<String, List<String>> specs = views.specs().get().devices();
            List<Finding> findings = new ArrayList<>();
            for (String uid : specs.keySet()) {
                if (!views.isRecorded(uid) && views.kubeletClaim(uid).isEmpty()) {
                    findings.add(unknown(views, uid));
                }
            }
            return Words.result(findings, specs.size(), "spec");
        }

        private static Finding unknown(Views views, String uid) {
            return new Finding(
                    "spec-unknown",
                    Severity.WARNING,
                    "CDI spec of claim " + uid,
                    "the journal has no such claim",
                    "the journal has lost the claim, or the spec was left; the driver takes it for"
                            + " evidence of the first when it starts, and holds the claim as damaged",
                    List.of(
                            "kubectl get resourceclaims -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid | grep "
                                    + uid,
                            "# if that shows a claim, delete its pods; if it shows none:",
                            "sudo rm %s/k8s.%s-claim_%s.json"
                                    .formatted(
                                            views.driver().cdiRoot(),
                                            views.driver().name(),
                                            uid)));
        }
    }

    /** Contradictions between what the node holds and the claims in the API. */
    private static final class JournalAndClaims {

        private static final String HELD_IN_VAIN =
                "its devices are refused to other claims, although the scheduler takes them for free";

        private JournalAndClaims() {}

        static Result gone(Views views) {
            views.requireClaims();
            List<Finding> findings = views.recorded().stream()
                    .map(ClaimRecord::ref)
                    .filter(ref ->
                            views.object(ref).isEmpty() && views.named(ref).isEmpty())
                    .filter(ref -> views.kubeletClaim(ref.uid()).isEmpty())
                    .map(ref -> gone(views, ref))
                    .toList();
            return Words.result(findings, views.recorded().size(), "claim");
        }

        private static Finding gone(Views views, ClaimRef ref) {
            return new Finding(
                    "claim-gone",
                    Severity.WARNING,
                    Words.claim(ref),
                    "the driver holds it, and the API server has no such claim",
                    HELD_IN_VAIN,
                    new Mend(views).awaitDriver());
        }

        static Result deletedInUse(Views views) {
            views.requireClaims();
            List<KubeletClaim> held = JournalAndKubelet.intact(views).prepared();
            List<Finding> findings = held.stream()
                    .filter(claim -> views.object(claim.ref()).isEmpty())
                    .filter(claim -> !isReplaced(views, claim.ref()))
                    .map(claim -> deletedInUse(views, claim))
                    .toList();
            return Words.result(findings, held.size(), "kubelet claim");
        }

        private static boolean isReplaced(Views views, ClaimRef ref) {
            return views.isRecorded(ref.uid()) && views.named(ref).isPresent();
        }

        private static Finding deletedInUse(Views views, KubeletClaim claim) {
            return new Finding(
                    "claim-deleted-in-use",
                    Severity.ERROR,
                    Words.claim(claim.ref()),
                    "pods of the node use it, and the API server has no such claim: its finalizer was"
                            + " removed by force",
                    "the scheduler takes %s for free, and pods that it places there can't start"
                            .formatted(String.join(", ", claim.devices())),
                    new Mend(views).deletePodsByUid(claim.pods()));
        }

        static Result replaced(Views views) {
            views.requireClaims();
            List<Finding> findings = views.recorded().stream()
                    .map(ClaimRecord::ref)
                    .filter(ref ->
                            views.object(ref).isEmpty() && views.named(ref).isPresent())
                    .map(ref -> replaced(views, ref))
                    .toList();
            return Words.result(findings, views.recorded().size(), "claim");
        }

        private static Finding replaced(Views views, ClaimRef ref) {
            String now = views.named(ref).map(ClaimRef::uid).orElseThrow();
            return new Finding(
                    "claim-replaced",
                    Severity.ERROR,
                    Words.claim(ref),
                    "the API server's claim of this name is another one, with UID " + now,
                    views.isKubeletIntact() && views.kubeletClaim(ref.uid()).isEmpty()
                            ? HELD_IN_VAIN
                            : "the kubelet refuses the pods of the new claim as long as pods of the old"
                                    + " one are on the node",
                    new Mend(views).deletePods(ref));
        }

        static Result differ(Views views) {
            views.requireClaims();
            Allocations allocations = new Allocations(views.driver().name(), List.of());
            List<Finding> findings = views.recorded().stream()
                    .filter(claim -> views.isOfThisBoot(claim) && claim.results() != null)
                    .flatMap(claim -> differ(views, allocations, claim).stream())
                    .toList();
            return Words.result(findings, views.recorded().size(), "claim");
        }

        private static Optional<Finding> differ(Views views, Allocations allocations, ClaimRecord claim) {
            Set<HeldDevice> held = allocations.unidentified(claim.devices());
            return views.object(claim.ref())
                    .map(object -> allocated(allocations, claim.ref(), object))
                    .filter(allocated -> !allocated.equals(held))
                    .map(allocated -> new Finding(
                            "devices-differ",
                            Severity.ERROR,
                            Words.claim(claim.ref()),
                            "prepared are %s, and allocated %s".formatted(names(held), names(allocated)),
                            "its containers use devices that the scheduler may give to" + " another claim",
                            new Mend(views).deletePods(claim.ref())));
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
}
