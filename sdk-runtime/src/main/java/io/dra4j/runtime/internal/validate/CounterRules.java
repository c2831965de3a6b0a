// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Quantity;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules for counters that the devices of a pool share. */
final class CounterRules {

    private static final int MOST_COUNTERS = 32;
    private static final int MOST_SETS_OF_A_DEVICE = 2;
    private static final int MOST_GROUPS = 2;

    private final Map<String, CounterSet> sets = new HashMap<>();

    /** Checks the sets themselves, and keeps them to look references up. */
    CounterRules(Findings findings, List<CounterSet> counterSets) {
        for (int i = 0; i < counterSets.size(); i++) {
            CounterSet set = counterSets.get(i);
            Field field = Field.ofPool(findings, "sharedCounters").item(i);
            Names.dnsLabel(field.child("name"), set.name());
            if (set.name() != null && sets.putIfAbsent(set.name(), set) != null) {
                field.child("name").refuse("must be unique in the pool", set.name());
            }
            counters(field.child("counters"), set.counters());
        }
    }

    void check(Field field, List<CounterConsumption> consumptions) {
        field.allowsAtMost(MOST_SETS_OF_A_DEVICE, consumptions.size(), "counter sets");
        Set<@Nullable String> seen = new HashSet<>();
        for (int i = 0; i < consumptions.size(); i++) {
            CounterConsumption consumption = consumptions.get(i);
            Field here = field.item(i);
            Field name = here.child("counterSet");
            Names.dnsLabel(name, consumption.counterSet());
            if (!seen.add(consumption.counterSet())) {
                name.refuse("must be unique in the device", consumption.counterSet());
            }
            counters(here.child("counters"), consumption.counters());
            groups(here.child("compatibilityGroups"), consumption.compatibilityGroups());
            resolve(here, consumption);
        }
    }

    private static void groups(Field field, List<String> groups) {
        field.allowsAtMost(MOST_GROUPS, groups.size(), "groups");
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < groups.size(); i++) {
            Names.dnsLabel(field.item(i), groups.get(i));
            if (!seen.add(groups.get(i))) {
                field.item(i).refuse("must be unique in the counter set", groups.get(i));
            }
        }
    }

    private static void counters(Field field, Map<String, Quantity> counters) {
        field.requiresSome(counters.keySet());
        field.allowsAtMost(MOST_COUNTERS, counters.size(), "counters");
        counters.forEach(
                (name, amount) -> {
                    Names.dnsLabel(field.key(name), name);
                    Amounts.isKeptAndNotNegative(field.key(name).child("value"), amount);
                });
    }

    private void resolve(Field field, CounterConsumption consumption) {
        if (consumption.counterSet() == null) {
            return;
        }
        CounterSet set = sets.get(consumption.counterSet());
        if (set == null) {
            field.child("counterSet")
                    .refuse("must be a counter set of the pool", consumption.counterSet());
            return;
        }
        consumption
                .counters()
                .forEach(
                        (name, amount) ->
                                fits(field.child("counters").key(name), set, name, amount));
    }

    /** A device that takes more than there is can never be allocated. */
    private static void fits(Field field, CounterSet set, String name, Quantity amount) {
        Quantity there = set.counters().get(name);
        if (there == null) {
            field.refuse("must be a counter of the counter set " + Shown.name(set.name()), name);
        } else if (amount.compareTo(there) > 0) {
            field.child("value")
                    .refuse(
                            "must be at most what the counter set %s has, %s"
                                    .formatted(Shown.name(set.name()), there),
                            amount);
        }
    }
}
