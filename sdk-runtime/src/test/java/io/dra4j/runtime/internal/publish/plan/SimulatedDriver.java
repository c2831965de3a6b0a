// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A driver's memory between two readings of the cluster: its plans, until it restarts. */
public final class SimulatedDriver {

    private final SimulatedCluster cluster;
    private final boolean mayTaint;
    private final Map<PoolName, List<PlannedSlice>> plans = new HashMap<>();

    public SimulatedDriver(SimulatedCluster cluster, boolean mayTaint) {
        this.cluster = cluster;
        this.mayTaint = mayTaint;
    }

    public List<SliceWrite> publish(Pool pool) {
        List<PlannedSlice> before =
                plans.computeIfAbsent(pool.name(), name -> PlannedSlice.adopt(cluster.of(pool.name())));
        List<PlannedSlice> plan = SlicePlanner.plan(pool, before, mayTaint);
        plans.put(pool.name(), plan);
        return SliceDiff.between(cluster.of(pool.name()), plan);
    }

    public List<SliceWrite> withdraw(PoolName pool) {
        plans.remove(pool);
        return SliceDiff.between(cluster.of(pool), List.of());
    }

    public void restart() {
        plans.clear();
    }

    public boolean mayTaint() {
        return mayTaint;
    }
}
