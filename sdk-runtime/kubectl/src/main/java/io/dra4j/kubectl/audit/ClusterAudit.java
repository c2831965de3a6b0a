// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checks for contradictions among the objects of a cluster. */
final class ClusterAudit {

    private ClusterAudit() {}

    /**
     * Returns the checks.
     *
     * @param pods reads the pods; what it throws is why they are not checked
     */
    static List<Check> of(Snapshot snapshot, Supplier<List<PodInfo>> pods) {
        Map<String, Supplier<CheckResult>> looks = new LinkedHashMap<>();
        Newest newest = new Newest(snapshot);
        HeldDevices devices = new HeldDevices(newest);
        looks.put("object-unreadable", () -> unreadable(snapshot));
        looks.put("device-not-published", missing(snapshot, devices::notPublished));
        looks.put("pool-not-published", missing(snapshot, devices::withoutSlices));
        looks.put("device-allocated-twice", devices::allocatedTwice);
        looks.put("node-gone", devices::onGoneNodes);
        Budgets budgets = new Budgets(newest);
        looks.put("capacity-exceeded", budgets::capacities);
        looks.put("counters-exceeded", budgets::counters);
        looks.put("reserved-for-no-pod", () -> new Reservations(snapshot, pods.get()).forNoPod());
        looks.put("pod-not-reserved", missing(snapshot, () -> new Reservations(snapshot, pods.get()).missing()));
        List<Check> checks = new ArrayList<>();
        looks.forEach((id, look) -> checks.add(Check.of(id, look)));
        return checks;
    }

    private static CheckResult unreadable(Snapshot snapshot) {
        if (!snapshot.unread().isEmpty()) {
            throw new NotCheckedException(String.join("; ", snapshot.unread()));
        }
        return CheckResult.healthy("all objects could be read");
    }

    /** A missing object may be one that could not be read. */
    private static Supplier<CheckResult> missing(Snapshot snapshot, Supplier<CheckResult> look) {
        return () -> {
            CheckResult result = look.get();
            if (!result.findings().isEmpty() && !snapshot.unread().isEmpty()) {
                throw new NotCheckedException("a missing object may be one that can't be read");
            }
            return result;
        };
    }

    /** Contradictions between claims and the pods that they are reserved for. */
    private static final class Reservations {

        private final Map<String, ClaimInfo> claims;
        private final List<PodInfo> pods;
        private final Map<String, PodInfo> byUid = new HashMap<>();

        Reservations(Snapshot snapshot, List<PodInfo> pods) {
            this.claims = new TreeMap<>(snapshot.claims());
            this.pods = pods;
            pods.forEach(pod -> byUid.put(pod.uid(), pod));
        }

        CheckResult forNoPod() {
            List<Finding> findings = new ArrayList<>();
            claims.forEach((claim, info) -> {
                info.podsByUid().forEach((uid, pod) -> {
                    PodInfo found = byUid.get(uid);
                    if (found == null || found.ended()) {
                        String name = info.claim().namespace() + "/" + pod;
                        findings.add(forNoPod(claim, name, uid, found != null));
                    }
                });
            });
            return CheckResult.of(findings, claims.size(), "claim");
        }

        private static Finding forNoPod(String claim, String pod, String uid, boolean hasEnded) {
            return new Finding(
                    "reserved-for-no-pod",
                    Severity.WARNING,
                    "claim %s for pod %s".formatted(claim, pod),
                    "the claim is reserved for the pod with UID %s, which %s"
                            .formatted(uid, hasEnded ? "has ended" : "does not exist"),
                    "its devices are not free for others",
                    List.of(
                            "# kube-controller-manager removes it within a minute; if it stays, check"
                                    + " whether that runs:",
                            "kubectl -n kube-system get pods -l component=kube-controller-manager"));
        }

        CheckResult missing() {
            List<Finding> findings = new ArrayList<>();
            for (PodInfo pod : pods) {
                if (!pod.node().isEmpty() && !pod.ended()) {
                    for (String claim : pod.claims()) {
                        ClaimInfo info = claims.get(pod.namespace() + "/" + claim);
                        if (info == null || !info.grouped() && !info.podsByUid().containsKey(pod.uid())) {
                            findings.add(missing(pod, claim, info != null));
                        }
                    }
                }
            }
            return CheckResult.of(findings, pods.size(), "pod");
        }

        private static Finding missing(PodInfo pod, String claim, boolean exists) {
            return new Finding(
                    "pod-not-reserved",
                    Severity.ERROR,
                    "pod %s with claim %s".formatted(pod.fullName(), claim),
                    "it is placed on node %s, but the claim %s"
                            .formatted(pod.node(), exists ? "is not reserved for it" : "does not exist"),
                    "the kubelet refuses to start it; a pod with spec.nodeName bypasses the scheduler",
                    List.of("kubectl -n %s delete pod %s".formatted(pod.namespace(), pod.name())));
        }
    }

    /** Contradictions between what claims consume and what is published. */
    private record Budgets(Newest newest) {

        CheckResult capacities() {
            List<Finding> findings = new ArrayList<>();
            int shared = 0;
            for (PoolId pool : newest.cluster().pools()) {
                for (Slice slice : newest.slices(pool)) {
                    for (Device device : slice.devices()) {
                        if (device.sharing()) {
                            shared++;
                            capacities(slice, device, findings);
                        }
                    }
                }
            }
            return CheckResult.of(findings, shared, "shared device");
        }

        private void capacities(Slice slice, Device device, List<Finding> findings) {
            List<Holder> holders = newest.cluster().holders(slice.id(device));
            device.capacity().forEach((name, capacity) -> {
                Quantity taken = newest.cluster().consumed(slice.id(device), name);
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

        CheckResult counters() {
            List<Finding> findings = new ArrayList<>();
            int sets = 0;
            for (PoolId pool : newest.cluster().pools()) {
                List<Slice> slices = newest.slices(pool);
                Map<String, Quantity> taken = taken(slices);
                for (Slice slice : slices) {
                    for (CounterSet set : slice.sharedCounters()) {
                        sets++;
                        counters(pool, set, taken, findings);
                    }
                }
            }
            return CheckResult.of(findings, sets, "counter set");
        }

        private Map<String, Quantity> taken(List<Slice> slices) {
            Map<String, Quantity> taken = new HashMap<>();
            for (Slice slice : slices) {
                for (Device device : slice.devices()) {
                    boolean isUsed = newest.cluster().holders(slice.id(device)).stream()
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
                                    "# delete the pods of the claims that were allocated last, until it fits")));
                }
            });
        }

        private static Finding exceeded(String id, String object, Quantity taken, Quantity all, List<String> fix) {
            return new Finding(
                    id,
                    Severity.ERROR,
                    object,
                    "claims consume %s, but only %s is published".formatted(taken, all),
                    "the driver refuses one of them, or workloads disturb each other; what is published"
                            + " may have shrunk, or another scheduler allocates",
                    fix);
        }
    }

    /** Contradictions between the devices of claims and those that are published. */
    private record HeldDevices(Newest newest) {

        private Set<DeviceId> held() {
            Set<DeviceId> devices = new LinkedHashSet<>();
            newest.allocated().forEach(claim -> claim.devices().forEach(device -> devices.add(device.id())));
            return devices;
        }

        CheckResult notPublished() {
            Set<DeviceId> devices = held();
            return CheckResult.of(
                    devices.stream()
                            .filter(this::isMissing)
                            .map(this::notPublished)
                            .toList(),
                    devices.size(),
                    "device");
        }

        private boolean isMissing(DeviceId device) {
            PoolId pool = Newest.pool(device);
            return newest.isComplete(pool)
                    && newest.slices(pool).stream()
                            .flatMap(slice -> slice.devices().stream())
                            .noneMatch(one -> one.name().equals(device.device()));
        }

        private Finding notPublished(DeviceId device) {
            List<String> claims = claims(device);
            return new Finding(
                    "device-not-published",
                    Severity.ERROR,
                    "device " + device,
                    "no slice publishes it, but it is allocated to " + String.join(", ", claims),
                    "pods of the claims may have lost the device, and can't be started again; the"
                            + " hardware may be gone, or the driver leaves it out",
                    release(claims, ""));
        }

        CheckResult withoutSlices() {
            Map<PoolId, Set<String>> claims = new TreeMap<>();
            for (DeviceId device : held()) {
                claims.computeIfAbsent(Newest.pool(device), id -> new TreeSet<>())
                        .addAll(claims(device));
            }
            int pools = claims.size();
            claims.keySet().removeAll(newest.cluster().pools());
            List<Finding> findings = new ArrayList<>();
            claims.forEach((pool, all) -> findings.add(withoutSlices(pool, List.copyOf(all))));
            return CheckResult.of(findings, pools, "pool");
        }

        private Finding withoutSlices(PoolId pool, List<String> claims) {
            return new Finding(
                    "pool-not-published",
                    Severity.WARNING,
                    "pool " + pool,
                    "it has no slices, but its devices are allocated to " + String.join(", ", claims),
                    "its driver or its node may be gone: then no pod of the claims can start or end; a"
                            + " kubelet that starts removes the slices of its node as well",
                    fix(claims));
        }

        private List<String> fix(List<String> claims) {
            List<String> fix = new ArrayList<>();
            fix.add("# a driver publishes them again within a minute; if it does not, does its pod run?");
            fix.add("kubectl get pods --all-namespaces --output wide");
            fix.add("# if the driver or the node will not return:");
            fix.addAll(release(claims, ""));
            return fix;
        }

        private List<String> claims(DeviceId device) {
            return newest.cluster().holders(device).stream()
                    .map(Holder::claim)
                    .distinct()
                    .toList();
        }

        private List<String> release(List<String> claims, String option) {
            return claims.stream()
                    .flatMap(claim -> newest.release(claim).stream())
                    .distinct()
                    .map(command -> command.contains(" delete ") ? command + option : command)
                    .toList();
        }

        CheckResult allocatedTwice() {
            Set<DeviceId> devices = held();
            List<Finding> findings = new ArrayList<>();
            for (DeviceId device : devices) {
                List<Holder> using = newest.cluster().holders(device).stream()
                        .filter(holder -> !holder.device().adminAccess())
                        .toList();
                boolean isExclusive =
                        using.stream().anyMatch(holder -> holder.device().isExclusive());
                if (isExclusive && using.size() > 1) {
                    findings.add(allocatedTwice(device, using));
                }
            }
            return CheckResult.of(findings, devices.size(), "device");
        }

        private Finding allocatedTwice(DeviceId device, List<Holder> using) {
            String last = using.get(using.size() - 1).claim();
            return new Finding(
                    "device-allocated-twice",
                    Severity.ERROR,
                    "device " + device,
                    "it is allocated to the claims %s, but is not shared"
                            .formatted(String.join(
                                    ", ", using.stream().map(Holder::claim).toList())),
                    "the driver prepares one of them, and the pods of the others wait forever",
                    newest.release(last));
        }

        CheckResult onGoneNodes() {
            Map<String, List<String>> claims = new TreeMap<>(); // by node
            newest.allocated().forEach(claim -> {
                for (String node : goneNodes(claim)) {
                    claims.computeIfAbsent(node, n -> new ArrayList<>(1)).add(claim.fullName());
                }
            });
            List<Finding> findings = new ArrayList<>();
            claims.forEach((node, all) -> findings.add(goneNode(node, all)));
            return CheckResult.of(findings, newest.snapshot().nodes().size(), "node");
        }

        private Set<String> goneNodes(Claim claim) {
            return claim.devices().stream()
                    .flatMap(device -> newest.slices(Newest.pool(device.id())).stream())
                    .map(slice -> slice.nodes().nodeName())
                    .filter(Objects::nonNull)
                    .filter(node -> newest.snapshot().nodes().stream()
                            .noneMatch(n -> n.name().equals(node)))
                    .collect(Collectors.toSet());
        }

        private Finding goneNode(String node, List<String> claims) {
            return new Finding(
                    "node-gone",
                    Severity.ERROR,
                    "node " + node,
                    "it no longer exists, but its devices are allocated to " + String.join(", ", claims),
                    "no kubelet unprepares these claims, and their pods are never placed elsewhere",
                    release(claims, " --force"));
        }
    }

    /** The newest slices of pools, and commands that release claims. */
    private record Newest(Snapshot snapshot) {

        ClusterState cluster() {
            return snapshot.cluster();
        }

        /** Returns the slices of a pool's newest generation. */
        List<Slice> slices(PoolId pool) {
            List<Slice> all = cluster().slices(pool);
            long generation = all.stream().mapToLong(Slice::generation).max().orElse(0);
            return all.stream()
                    .filter(slice -> slice.generation() == generation)
                    .toList();
        }

        /**
         * Returns whether a pool has all its slices, as the scheduler counts them.
         *
         * <p>While a driver writes them, some are missing, or there are too many. A pool without slices says nothing
         * about its devices: a kubelet that starts removes the slices of its node.
         */
        boolean isComplete(PoolId pool) {
            List<Slice> newest = slices(pool);
            return !newest.isEmpty() && newest.size() == newest.get(0).sliceCount();
        }

        static PoolId pool(DeviceId device) {
            return new PoolId(device.driver(), device.pool());
        }

        /** Returns the commands that end a claim's use of its devices. */
        List<String> release(String claim) {
            ClaimInfo info = snapshot.claims().get(claim);
            String namespace = claim.substring(0, Math.max(0, claim.indexOf('/')));
            String name = claim.substring(claim.indexOf('/') + 1);
            if (info != null && info.grouped()) {
                return List.of(
                        "kubectl -n %s get resourceclaim %s -o jsonpath='{.status.reservedFor}'"
                                .formatted(namespace, name),
                        "# end the pods and the groups of pods that it shows");
            }
            return info == null || info.pods().isEmpty()
                    ? List.of("kubectl -n %s delete resourceclaim %s".formatted(namespace, name))
                    : List.of("kubectl -n %s delete pod %s".formatted(namespace, String.join(" ", info.pods())));
        }

        Stream<Claim> allocated() {
            return cluster().claims().stream().filter(claim -> !claim.devices().isEmpty());
        }
    }
}
