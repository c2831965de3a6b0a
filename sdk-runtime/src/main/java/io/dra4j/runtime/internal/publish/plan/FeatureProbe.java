// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A dry-run create of a slice with one device: the server returns what it would keep, and keeps nothing. */
public final class FeatureProbe {

    private static final Logger LOG = LoggerFactory.getLogger(FeatureProbe.class);
    private static final int BAD_REQUEST = 400;
    private static final int UNPROCESSABLE = 422;

    private FeatureProbe() {}

    /**
     * Returns whether the server keeps a feature.
     *
     * @param layout where counter sets belong, if the feature needs them
     * @throws ClusterException if the server can't be reached, or refuses the slice
     */
    public static boolean isKept(Feature feature, SliceStore store, PoolName pool, Supplier<CounterLayout> layout) {
        try {
            return feature.usedBy(store.tryCreate(slice(feature, store, pool, layout)));
        } catch (ClusterException e) {
            // Any other rule may give the same answer: an admission policy, for instance.
            if (e.status() == UNPROCESSABLE && String.valueOf(e.getMessage()).contains(feature.field())) {
                return false;
            }
            if (e.status() == BAD_REQUEST) {
                LOG.atInfo()
                        .setCause(e)
                        .log(
                                "The API server accepts no dry runs; fields that it leaves out are found when slices are written");
                return true;
            }
            throw e;
        }
    }

    private static Content slice(Feature feature, SliceStore store, PoolName pool, Supplier<CounterLayout> layout) {
        Device probe = feature.probe();
        List<CounterSet> sets = Feature.COUNTERS.usedBy(probe) ? layout.get().besides(probe) : List.of();
        Placement nodes = store.scopes().contains(Scope.NODE) ? new Placement.ThisNode() : new Placement.AllNodes();
        return feature.probeIn(new Content(pool, 1, 1, nodes, List.of(probe), sets));
    }
}
