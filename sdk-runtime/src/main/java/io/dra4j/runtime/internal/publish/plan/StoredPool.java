// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A pool as the cluster has it, made from its slices while the provider's is unknown.
 *
 * <p>Planned and compared with these slices again, it writes nothing.
 */
public final class StoredPool {

    private StoredPool() {}

    /**
     * Returns the pool that consumers see: slices of older generations do not count.
     *
     * @param slices the slices of the pool, at least one
     */
    public static Pool of(PoolName name, Collection<Stored> slices) {
        long newest = slices.stream().mapToLong(s -> s.content().generation()).max().orElse(0);
        List<Content> contents =
                slices.stream()
                        .filter(slice -> slice.content().generation() == newest)
                        .sorted(Comparator.comparing(Stored::name))
                        .map(Stored::content)
                        .toList();
        Content first = contents.get(0);
        return Pool.builder(name.value())
                .placement(first.placement())
                .partitionTypeAttribute(first.partitionTypeAttribute())
                .skipNodeOperations(
                        Stream.of(NodeOperation.values())
                                .filter(o -> first.skipNodeOperations().contains(o.apiName()))
                                .collect(Collectors.toSet()))
                .devices(contents.stream().flatMap(c -> c.devices().stream()).toList())
                .counterSets(contents.stream().flatMap(c -> c.counterSets().stream()).toList())
                .build();
    }
}
