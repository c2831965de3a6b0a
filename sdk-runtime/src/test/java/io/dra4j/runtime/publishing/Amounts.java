// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Random capacities, and policies that fit them, or at the edge hardly do. */
record Amounts(LimitPools pools) {

    Capacity capacity(boolean shared) {
        if (shared != pools.isEdge() && pools.random().nextBoolean()) {
            long most = pools.any(List.of(1L, 7L, 64L, 1L << 40, Long.MAX_VALUE));
            return new Capacity(Quantity.of(most), policy(most));
        }
        return new Capacity(
                new Quantity(
                        pools.edge(
                                List.of("0.1n", "8Ei", "1e99", "10E", "-1e-10"),
                                List.of(
                                        "0", "-3", "1n", "7Ei", "80Gi", "9e18", "1500m", "1e-9",
                                        ".5", "+3."))),
                null);
    }

    private RequestPolicy policy(long most) {
        return switch (pools.random().nextInt(4)) {
            case 0 -> new RequestPolicy(upTo(most), List.of(), null);
            case 1 -> new RequestPolicy(null, List.of(), null);
            case 2 -> values(most);
            default -> range(most);
        };
    }

    private RequestPolicy values(long most) {
        int count = (int) Math.min(most, Math.max(1, pools.upTo(10)));
        List<Quantity> values = new ArrayList<>();
        for (long i = 1; i <= count; i++) {
            values.add(Quantity.of(most == Long.MAX_VALUE ? most - count + i : i));
        }
        if (pools.isEdge()) {
            values.add(pools.any(values));
        }
        return RequestPolicy.values(pools.isEdge() ? Quantity.of(0) : pools.any(values), values);
    }

    private RequestPolicy range(long most) {
        long min = pools.random().nextLong(most);
        long step = 1 + pools.random().nextLong(most - min);
        long steps = pools.random().nextLong((most - min) / step + 1);
        long max = min + step * steps;
        long standard = min + step * (pools.random().nextLong(steps + 1));
        return RequestPolicy.range(
                pools.isEdge() ? upTo(most) : Quantity.of(standard),
                new ValidRange(
                        pools.isEdge() ? upTo(most) : Quantity.of(min),
                        pools.isEdge() ? upTo(most) : orNull(max),
                        pools.isEdge() ? Quantity.of(pools.random().nextInt(3)) : orNull(step)));
    }

    private @Nullable Quantity orNull(long amount) {
        return pools.random().nextInt(4) == 0 ? null : Quantity.of(amount);
    }

    private Quantity upTo(long most) {
        return Quantity.of(pools.random().nextLong(most) + 1);
    }
}
