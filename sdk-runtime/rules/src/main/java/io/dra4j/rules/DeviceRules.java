// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for one device of a slice. */
final class DeviceRules {
    private static final List<String> PLACEMENTS = List.of("nodeName", "nodeSelector", "allNodes");
    private static final List<String> EFFECTS = List.of("NoExecute", "NoSchedule", "None");
    private static final int BINDING_CONDITIONS = 4;
    private static final int DRIVER_LENGTH = 63;

    private final SliceLimits limits;
    private final CounterRules counters;
    private final CapacityRules capacities;

    DeviceRules(SliceLimits limits, CounterRules counters, CapacityRules capacities) {
        this.limits = limits;
        this.counters = counters;
        this.capacities = capacities;
    }

    /** Returns whether the device lowers the limit of its slice. */
    static boolean isComplex(JsonNode device) {
        return !device.path("taints").isEmpty()
                || !device.path("consumesCounters").isEmpty()
                || AttributeRules.hasList(device.path("attributes"));
    }

    static void checkDriver(Field driver) {
        if (driver.requireText()) {
            driver.requireLength(DRIVER_LENGTH);
            driver.requireForm(Names::driverProblem);
        }
    }

    static void checkDeviceName(Field name) {
        if (name.requireText()) {
            name.requireForm(Names::dnsLabelProblem);
        }
    }

    void check(Field device, boolean perDevice) {
        checkDeviceName(device.at("name"));
        int keys = device.at("attributes").size() + device.at("capacity").size();
        int limit = SliceLimits.ATTRIBUTES_AND_CAPACITIES;
        String rule = "the total number of attributes and capacities must not exceed " + limit;
        device.requireThat(keys <= limit, keys, rule);
        AttributeRules.check(device.at("attributes"), limits.attributeValues());
        capacities.check(device);
        checkTaints(device.at("taints"));
        counters.checkConsumed(device);
        checkPlacement(device, perDevice);
        checkBinding(device);
        NodeAllocatableRules.check(device);
    }

    private void checkTaints(Field taints) {
        taints.requireAtMost(limits.taints());
        taints.items().forEach(DeviceRules::checkTaint);
    }

    static void checkTaint(Field taint) {
        taint.at("key").requireForm(Names::qualifiedNameProblem);
        taint.at("value").requireForm(Names::labelValueProblem);
        if (taint.at("effect").requireText()) {
            taint.at("effect").requireOneOf(EFFECTS);
        }
    }

    private static void checkPlacement(Field device, boolean perDevice) {
        List<String> set = PLACEMENTS.stream().filter(field -> device.at(field).present()).toList();
        if (perDevice) {
            device.requireThat(
                    set.size() == 1,
                    "{" + String.join(", ", set) + "}",
                    "exactly one of `nodeName`, `nodeSelector` or"
                            + " `allNodes` is required when `perDeviceNodeSelection` is set to true in the slice");
        } else {
            String rule = "must not be set unless `perDeviceNodeSelection` is true in the slice";
            set.forEach(field -> device.at(field).forbidden(rule));
        }
        NodeRules.check(device, 0);
    }

    private static void checkBinding(Field device) {
        Field failing = device.at("bindingFailureConditions");
        Set<String> conditions = checkConditions(device.at("bindingConditions"));
        Set<String> failures = checkConditions(failing);
        String rule = "bindingConditions and bindingFailureConditions must be set together";
        device.requireThat(conditions.isEmpty() == failures.isEmpty(), "", rule);
        for (Field failure : failing.items()) {
            String name = failure.text();
            boolean overlaps = conditions.contains(name);
            failing.requireThat(!overlaps, name, "must not overlap with bindingConditions");
        }
    }

    private static Set<String> checkConditions(Field conditions) {
        conditions.requireAtMost(BINDING_CONDITIONS);
        Set<String> names = new HashSet<>();
        for (Field condition : conditions.items()) {
            condition.requireForm(Names::qualifiedNameProblem);
            condition.requireUnique(names);
        }
        return names;
    }
}
