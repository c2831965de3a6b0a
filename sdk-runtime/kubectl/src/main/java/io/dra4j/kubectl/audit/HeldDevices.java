// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Contradictions between the devices of claims and those that are published. */
final class HeldDevices {

    private final Snapshot snapshot;
    private final Newest newest;

    HeldDevices(Snapshot snapshot) {
        this.snapshot = snapshot;
        this.newest = new Newest(snapshot);
    }

    private Set<DeviceId> held() {
        Set<DeviceId> devices = new LinkedHashSet<>();
        newest.allocated().forEach(claim -> claim.devices().forEach(device -> devices.add(device.id())));
        return devices;
    }

    Result notPublished() {
        Set<DeviceId> devices = held();
        return Newest.result(
                devices.stream().filter(this::isMissing).map(this::notPublished).toList(), devices.size(), "device");
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
                "no slice publishes it any more, and it is allocated to " + String.join(", ", claims),
                "pods of the claims may have lost the device, and can't be started again; the"
                        + " hardware may be gone, or the driver leaves it out",
                release(claims, ""));
    }

    Result withoutSlices() {
        Map<PoolId, Set<String>> claims = new TreeMap<>();
        for (DeviceId device : held()) {
            claims.computeIfAbsent(Newest.pool(device), id -> new TreeSet<>()).addAll(claims(device));
        }
        int pools = claims.size();
        claims.keySet().removeAll(snapshot.cluster().pools());
        List<Finding> findings = new ArrayList<>();
        claims.forEach((pool, all) -> findings.add(withoutSlices(pool, List.copyOf(all))));
        return Newest.result(findings, pools, "pool");
    }

    private Finding withoutSlices(PoolId pool, List<String> claims) {
        return new Finding(
                "pool-not-published",
                Severity.WARNING,
                "pool " + pool,
                "it has no slices, and its devices are allocated to " + String.join(", ", claims),
                "its driver or its node may be gone: then no pod of the claims can start or end; a"
                        + " kubelet that starts removes the slices of its node as well",
                mendPool(claims));
    }

    private List<String> mendPool(List<String> claims) {
        List<String> mend = new ArrayList<>();
        mend.add("# a driver publishes them again within a minute; if it does not, does its pod run?");
        mend.add("kubectl get pods --all-namespaces --output wide");
        mend.add("# if the driver or the node is gone for good:");
        mend.addAll(release(claims, ""));
        return mend;
    }

    private List<String> claims(DeviceId device) {
        return snapshot.cluster().holders(device).stream()
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

    Result allocatedTwice() {
        Set<DeviceId> devices = held();
        List<Finding> findings = new ArrayList<>();
        for (DeviceId device : devices) {
            List<Holder> using = snapshot.cluster().holders(device).stream()
                    .filter(holder -> !holder.device().adminAccess())
                    .toList();
            boolean isExclusive =
                    using.stream().anyMatch(holder -> holder.device().isExclusive());
            if (isExclusive && using.size() > 1) {
                findings.add(allocatedTwice(device, using));
            }
        }
        return Newest.result(findings, devices.size(), "device");
    }

    private Finding allocatedTwice(DeviceId device, List<Holder> using) {
        String last = using.get(using.size() - 1).claim();
        return new Finding(
                "device-allocated-twice",
                Severity.ERROR,
                "device " + device,
                "the claims %s have it, and it is not shared"
                        .formatted(String.join(
                                ", ", using.stream().map(Holder::claim).toList())),
                "the driver prepares one of them, and the pods of the others wait for ever",
                newest.release(last));
    }

    Result onGoneNodes() {
        Map<String, List<String>> claims = new TreeMap<>(); // by node
        newest.allocated().forEach(claim -> {
            for (String node : goneNodes(claim)) {
                claims.computeIfAbsent(node, n -> new ArrayList<>(1)).add(claim.fullName());
            }
        });
        List<Finding> findings = new ArrayList<>();
        claims.forEach((node, all) -> findings.add(goneNode(node, all)));
        return Newest.result(findings, snapshot.nodes().size(), "node");
    }

    private Set<String> goneNodes(Claim claim) {
        return claim.devices().stream()
                .flatMap(device -> newest.slices(Newest.pool(device.id())).stream())
                .map(slice -> slice.nodes().nodeName())
                .filter(Objects::nonNull)
                .filter(node ->
                        snapshot.nodes().stream().noneMatch(n -> n.name().equals(node)))
                .collect(Collectors.toSet());
    }

    private Finding goneNode(String node, List<String> claims) {
        return new Finding(
                "node-gone",
                Severity.ERROR,
                "node " + node,
                "it does not exist any more, and its devices are allocated to " + String.join(", ", claims),
                "no kubelet unprepares these claims, and their pods are never placed elsewhere",
                release(claims, " --force"));
    }
}
