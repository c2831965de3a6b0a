// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
}
