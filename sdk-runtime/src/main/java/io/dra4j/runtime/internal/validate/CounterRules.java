// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.validate.DeviceRules.AmountRules;
import io.dra4j.runtime.internal.validate.Findings.Field;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules for counters over the whole pool, of which a server sees one slice at a time. */
final class CounterRules {

    private final Map<String, CounterSet> sets = new HashMap<>();

    /** Checks the sets themselves, and keeps them to look references up. */
    CounterRules(Findings findings, List<CounterSet> counterSets) {
        for (int i = 0; i < counterSets.size(); i++) {
            CounterSet set = counterSets.get(i);
            Field field = Field.ofPool(findings, "sharedCounters").item(i);
            if (sets.putIfAbsent(set.name(), set) != null) {
                field.refuse("must have a name that is unique in the pool", set.name());
            }
            amounts(field.child("counters"), set.counters());
        }
    }

    void check(Field field, List<CounterConsumption> consumptions) {
        for (int i = 0; i < consumptions.size(); i++) {
            CounterConsumption consumption = consumptions.get(i);
            amounts(field.item(i).child("counters"), consumption.counters());
            resolve(field.item(i), consumption);
        }
    }

    private static void amounts(Field field, Map<String, Quantity> counters) {
        counters.forEach((name, amount) ->
                AmountRules.isKeptAndNotNegative(field.key(name).child("value"), amount));
    }

    private void resolve(Field field, CounterConsumption consumption) {
        CounterSet set = sets.get(consumption.counterSet());
        if (set == null) {
            field.child("counterSet").refuse("must be a counter set of the pool", consumption.counterSet());
            return;
        }
        Set<String> names = new LinkedHashSet<>(consumption.counters().keySet());
        names.addAll(consumption.rawFields().keySet());
        names.forEach(name -> fits(
                field.child("counters").key(name),
                set,
                name,
                consumption.counters().get(name)));
    }

    /** A device that takes more than there is can never be allocated. */
    private static void fits(Field field, CounterSet set, String name, @Nullable Quantity amount) {
        Quantity there = set.counters().get(name);
        if (there == null) {
            field.refuse("must be a counter of the counter set " + Shown.name(set.name()), name);
        } else if (amount != null && amount.compareTo(there) > 0) {
            field.child("value")
                    .refuse(
                            "must be at most what the counter set %s has, %s".formatted(Shown.name(set.name()), there),
                            amount);
        }
    }
}
