// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The counters that a device consumes, as kept by servers whose feature gates are off. */
final class ConsumedCounters {

    private ConsumedCounters() {}

    /** Returns a device with the part of its consumption that a server keeps. */
    static Device of(Device device, UnaryOperator<CounterConsumption> kept) {
        return device.toBuilder()
                .consumesCounters(device.consumesCounters().stream().map(kept).toList())
                .build();
    }

    static CounterConsumption withoutGroups(CounterConsumption consumption) {
        return consumption.toBuilder().compatibilityGroups(List.of()).build();
    }

    static CounterConsumption withoutRequests(CounterConsumption consumption) {
        return CounterConsumption.builder(consumption.counterSet())
                .counters(consumption.counters())
                .compatibilityGroups(consumption.compatibilityGroups())
                .build();
    }

    /** Drops amounts of zero, which a server stores for an amount in a form that it does not know. */
    static List<CounterConsumption> amounts(Device device) {
        return device.consumesCounters().stream().map(ConsumedCounters::amounts).toList();
    }

    private static CounterConsumption amounts(CounterConsumption consumption) {
        Map<String, Quantity> amounts = new LinkedHashMap<>(consumption.counters());
        amounts.values().removeIf(amount -> amount.compareTo(Quantity.of(0)) == 0);
        return CounterConsumption.of(consumption.counterSet(), amounts);
    }
}
