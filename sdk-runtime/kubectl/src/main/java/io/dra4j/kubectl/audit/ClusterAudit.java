// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** All contradictions that are looked for among the objects of a cluster. */
final class ClusterAudit {

    private ClusterAudit() {}

    /**
     * Returns the checks.
     *
     * @param pods reads the pods; what it throws is why they are not checked
     */
    static List<Check> of(Snapshot snapshot, Supplier<List<PodInfo>> pods) {
        Map<String, Supplier<Result>> looks = new LinkedHashMap<>();
        HeldDevices devices = new HeldDevices(snapshot);
        looks.put("object-unreadable", () -> unreadable(snapshot));
        looks.put("device-not-published", missing(snapshot, devices::notPublished));
        looks.put("pool-not-published", missing(snapshot, devices::withoutSlices));
        looks.put("device-allocated-twice", devices::allocatedTwice);
        looks.put("node-gone", devices::onGoneNodes);
        Budgets budgets = new Budgets(snapshot);
        looks.put("capacity-exceeded", budgets::capacities);
        looks.put("counters-exceeded", budgets::counters);
        looks.put("reserved-for-no-pod", () -> new Reservations(snapshot, pods.get()).forNoPod());
        looks.put("pod-not-reserved", missing(snapshot, () -> new Reservations(snapshot, pods.get()).missing()));
        List<Check> checks = new ArrayList<>();
        looks.forEach((id, look) -> checks.add(new Look(id, look)));
        return checks;
    }

    private static Result unreadable(Snapshot snapshot) {
        if (!snapshot.unread().isEmpty()) {
            throw new NotCheckedException(String.join("; ", snapshot.unread()));
        }
        return Result.healthy("all objects could be read");
    }

    /** An object that is missed may be one that could not be read. */
    private static Supplier<Result> missing(Snapshot snapshot, Supplier<Result> look) {
        return () -> {
            Result result = look.get();
            if (!result.findings().isEmpty() && !snapshot.unread().isEmpty()) {
                throw new NotCheckedException("an object that is missed may be one that can't be read");
            }
            return result;
        };
    }

    private record Look(String id, Supplier<Result> supplier) implements Check {
        @Override
        public Result look() {
            return supplier.get();
        }
    }

    /** Contradictions between claims and the pods that they are reserved for. */
    private static final class Reservations {

        private final Map<String, ClaimInfo> claims;
        private final List<PodInfo> pods;
        private final Map<String, PodInfo> byName = new HashMap<>();

        Reservations(Snapshot snapshot, List<PodInfo> pods) {
            this.claims = new TreeMap<>(snapshot.claims());
            this.pods = pods;
            pods.forEach(pod -> byName.put(pod.fullName(), pod));
        }

        Result forNoPod() {
            List<Finding> findings = new ArrayList<>();
            claims.forEach((claim, info) -> {
                for (String pod : info.pods()) {
                    String name = info.claim().namespace() + "/" + pod;
                    PodInfo found = byName.get(name);
                    if (found == null || found.ended()) {
                        findings.add(forNoPod(claim, name, found != null));
                    }
                }
            });
            return Newest.result(findings, claims.size(), "claim");
        }

        private static Finding forNoPod(String claim, String pod, boolean hasEnded) {
            return new Finding(
                    "reserved-for-no-pod",
                    Severity.WARNING,
                    "claim %s for pod %s".formatted(claim, pod),
                    "the claim is reserved for the pod, which " + (hasEnded ? "has ended" : "does not exist"),
                    "its devices are not free for others",
                    List.of(
                            "# kube-controller-manager removes it within a minute; if it stays, see"
                                    + " whether that runs:",
                            "kubectl -n kube-system get pods -l component=kube-controller-manager"));
        }

        Result missing() {
            List<Finding> findings = new ArrayList<>();
            for (PodInfo pod : pods) {
                if (!pod.node().isEmpty() && !pod.ended()) {
                    for (String claim : pod.claims()) {
                        ClaimInfo info = claims.get(pod.namespace() + "/" + claim);
                        if (info == null || !info.grouped() && !info.pods().contains(pod.name())) {
                            findings.add(missing(pod, claim, info != null));
                        }
                    }
                }
            }
            return Newest.result(findings, pods.size(), "pod");
        }

        private static Finding missing(PodInfo pod, String claim, boolean exists) {
            return new Finding(
                    "pod-not-reserved",
                    Severity.ERROR,
                    "pod %s with claim %s".formatted(pod.fullName(), claim),
                    "it is placed on node %s, and the claim %s"
                            .formatted(pod.node(), exists ? "is not reserved for it" : "does not exist"),
                    "the kubelet refuses to start it; a pod with spec.nodeName passes the scheduler by",
                    List.of("kubectl -n %s delete pod %s".formatted(pod.namespace(), pod.name())));
        }
    }

    /** Contradictions between what claims take and what there is. */
    private static final class Budgets {

        private final Snapshot snapshot;
        private final Newest newest;

        Budgets(Snapshot snapshot) {
            this.snapshot = snapshot;
            this.newest = new Newest(snapshot);
        }

        Result capacities() {
            List<Finding> findings = new ArrayList<>();
            int shared = 0;
            for (PoolId pool : snapshot.cluster().pools()) {
                for (Slice slice : newest.slices(pool)) {
                    for (Device device : slice.devices()) {
                        if (device.sharing()) {
                            shared++;
                            capacities(slice, device, findings);
                        }
                    }
                }
            }
            return Newest.result(findings, shared, "shared device");
        }

        private void capacities(Slice slice, Device device, List<Finding> findings) {
            List<Holder> holders = snapshot.cluster().holders(slice.id(device));
            device.capacity().forEach((name, capacity) -> {
                Quantity taken = snapshot.cluster().consumed(slice.id(device), name);
                if (taken.compareTo(capacity.value()) > 0) {
                    String last = holders.get(holders.size() - 1).claim();
                    findings.add(exceeded(
                            "capacity-exceeded",
                            "%s of device %s".formatted(name, slice.id(device)),
                            taken,
                            capacity.value(),
                            newest.release(last)));
                }
            });
        }

        Result counters() {
            List<Finding> findings = new ArrayList<>();
            int sets = 0;
            for (PoolId pool : snapshot.cluster().pools()) {
                List<Slice> slices = newest.slices(pool);
                Map<String, Quantity> taken = taken(slices);
                for (Slice slice : slices) {
                    for (CounterSet set : slice.sharedCounters()) {
                        sets++;
                        counters(pool, set, taken, findings);
                    }
                }
            }
            return Newest.result(findings, sets, "counter set");
        }

        private Map<String, Quantity> taken(List<Slice> slices) {
            Map<String, Quantity> taken = new HashMap<>();
            for (Slice slice : slices) {
                for (Device device : slice.devices()) {
                    boolean isUsed = snapshot.cluster().holders(slice.id(device)).stream()
                            .anyMatch(holder -> !holder.device().adminAccess());
                    if (isUsed) {
                        for (CounterSet set : device.consumes()) {
                            set.counters()
                                    .forEach((name, amount) ->
                                            taken.merge(set.name() + "/" + name, amount, Quantity::plus));
                        }
                    }
                }
            }
            return taken;
        }

        private void counters(PoolId pool, CounterSet set, Map<String, Quantity> taken, List<Finding> findings) {
            set.counters().forEach((name, all) -> {
                Quantity used = taken.get(set.name() + "/" + name);
                if (used != null && used.compareTo(all) > 0) {
                    findings.add(exceeded(
                            "counters-exceeded",
                            "%s of counter set %s of pool %s".formatted(name, set.name(), pool),
                            used,
                            all,
                            List.of(
                                    "kubectl dra tree --driver=" + pool.driver(),
                                    "# delete the pods of the claims that were" + " allocated last, until it fits")));
                }
            });
        }

        private static Finding exceeded(String id, String object, Quantity taken, Quantity all, List<String> mend) {
            return new Finding(
                    id,
                    Severity.ERROR,
                    object,
                    "claims take %s, and there is %s".formatted(taken, all),
                    "the driver refuses one of them, or workloads disturb each other; what is published"
                            + " may have shrunk, or another scheduler allocates",
                    mend);
        }
    }
}
