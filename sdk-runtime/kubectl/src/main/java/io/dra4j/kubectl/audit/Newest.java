// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.List;
import java.util.stream.Stream;

/** The newest slices of pools, and commands that release claims. */
record Newest(Snapshot snapshot) {
    ClusterState cluster() {
        return snapshot.cluster();
    }

    /** Returns the slices of a pool's newest generation. */
    List<Slice> slices(PoolId pool) {
        List<Slice> all = cluster().slices(pool);
        long generation = all.stream().mapToLong(Slice::generation).max().orElse(0);
        return all.stream().filter(slice -> slice.generation() == generation).toList();
    }

    /**
     * Returns whether a pool has all its slices, as the scheduler counts them.
     *
     * <p>While a driver writes them, some are missing, or there are too many. A pool without slices says nothing about
     * its devices: a kubelet that starts removes the slices of its node.
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
                    "kubectl -n %s get resourceclaim %s -o jsonpath='{.status.reservedFor}'".formatted(namespace, name),
                    "# end the pods and the groups of pods that it shows");
        }
        return info == null || info.pods().isEmpty()
                ? List.of("kubectl -n %s delete resourceclaim %s".formatted(namespace, name))
                : List.of("kubectl -n %s delete pod %s".formatted(namespace, String.join(" ", info.pods())));
    }

    Stream<Claim> allocated() {
        return cluster().claims().stream()
                .filter(claim -> !claim.devices().isEmpty());
    }

    static CheckResult result(List<Finding> findings, long looked, String noun) {
        return new CheckResult(CheckResult.number(looked, noun), findings);
    }
}
