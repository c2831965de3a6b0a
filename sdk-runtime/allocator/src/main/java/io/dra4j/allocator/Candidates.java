// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.cel.DeviceVariable;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.rules.FeatureGate;
import java.util.ArrayList;
import java.util.List;

/** Lists the devices of pools, in the order in which they are tried. */
final class Candidates {
    private final Behaviour behaviour;
    private final List<TaintRule> rules;

    Candidates(Behaviour behaviour, Cluster cluster) {
        this.behaviour = behaviour;
        this.rules = !behaviour.enabled(FeatureGate.DRA_DEVICE_TAINT_RULES)
                ? List.of()
                : cluster.taintRules().stream()
                        .filter(rule -> rule.hasSelector() || behaviour.has(SchedulerBug.TAINT_RULE_WITHOUT_SELECTOR))
                        .toList();
    }

    /** The devices of which a request may get some: not those of a pool that cannot be used. */
    List<Candidate> of(List<Pool> pools) {
        List<Candidate> all = new ArrayList<>();
        for (Pool pool : pools) {
            if (isUsed(pool)) {
                addTo(all, pool);
            }
        }
        return all;
    }

    private boolean isUsed(Pool pool) {
        return (!pool.incomplete() || behaviour.has(Trait.INCOMPLETE_POOLS_ARE_USED))
                && (!pool.isInvalid() || behaviour.has(Trait.INVALID_POOLS_ARE_FATAL));
    }

    private void addTo(List<Candidate> all, Pool pool) {
        for (Slice slice : pool.slices()) {
            if (!slice.sharedCounters().isEmpty() && !behaviour.has(Trait.COUNTERS_IN_DEVICE_SLICE)) {
                continue;
            }
            for (Device device : slice.devices()) {
                DeviceId id = slice.id(device);
                Device tainted = tainted(device, id);
                DeviceVariable variable = new DeviceVariable(id.driver(), device, behaviour.listsInExpressions());
                all.add(new Candidate(all.size(), pool, slice, tainted, id, variable));
            }
        }
    }

    private Device tainted(Device device, DeviceId id) {
        List<Taint> added = rules.stream()
                .filter(rule -> rule.selects(id))
                .map(TaintRule::taint)
                .toList();
        if (added.isEmpty()) {
            return device;
        }
        List<Taint> taints = new ArrayList<>(device.taints());
        taints.addAll(added);
        return device.withTaints(List.copyOf(taints));
    }
}
