// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.OwnNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Contradictions between what claims take and what there is. */
final class Budgets {

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
        OwnNames names = new OwnNames(slice.id(device).driver());
        device.capacity().forEach((name, capacity) -> {
            Quantity taken = Quantity.ZERO;
            for (Holder holder : holders) {
                Optional<Quantity> share = names.find(holder.device().consumedCapacity(), name);
                taken = share.map(taken::plus).orElse(taken);
            }
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
                                .forEach(
                                        (name, amount) -> taken.merge(set.name() + "/" + name, amount, Quantity::plus));
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
