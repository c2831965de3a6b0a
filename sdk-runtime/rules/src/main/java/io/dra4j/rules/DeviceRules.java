// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Rules for one device of a slice. */
final class DeviceRules {
    private static final List<String> PLACEMENTS = List.of("nodeName", "nodeSelector", "allNodes");
    static final List<String> EFFECTS = List.of("NoExecute", "NoSchedule", "None");

    private final KubernetesVersion version;
    private final SliceLimits limits;
    private final CounterRules counters;
    private final AttributeRules attributes;
    private final CapacityRules capacities;

    DeviceRules(FeatureGates gates, SliceLimits limits, CounterRules counters) {
        this.version = gates.version();
        this.limits = limits;
        this.counters = counters;
        this.attributes = new AttributeRules(new AttributeKeys(version));
        this.capacities = new CapacityRules(gates);
    }

    /** Returns whether the device lowers the limit of its slice. */
    static boolean isComplex(JsonNode device) {
        return !device.path("taints").isEmpty()
                || !device.path("consumesCounters").isEmpty()
                || AttributeRules.hasList(device.path("attributes"));
    }

    static void checkDriver(Field driver) {
        if (driver.requireText()) {
            driver.requireLength(Names.DRIVER_LENGTH);
            driver.requireForm(Names::driverProblems);
        }
    }

    static void checkDeviceName(Field name) {
        name.requireForm(Names::dnsLabelProblems);
    }

    /**
     * Checks a device.
     *
     * @param old the device that it takes the place of, whose taints are not checked again
     */
    void check(Field device, JsonNode old, boolean perDevice) {
        checkDeviceName(device.at("name"));
        checkNumbers(device);
        attributes.check(device.at("attributes"));
        boolean sameCapacity = old.path("capacity").equals(device.at("capacity").value());
        if (!old.isObject() || !sameCapacity || !version.atLeast(KubernetesVersion.V1_37)) {
            capacities.check(device);
        }
        if (!old.isObject() || !old.path("taints").equals(device.at("taints").value())) {
            checkTaints(device.at("taints"));
        }
        counters.checkConsumed(device);
        checkPlacement(device, perDevice);
        BindingRules.check(device);
        NodeAllocatableRules.check(device);
    }

    private void checkNumbers(Field device) {
        int keys = device.at("attributes").size() + device.at("capacity").size();
        requireAtMost(device, keys, SliceLimits.ATTRIBUTES_AND_CAPACITIES, "attributes and capacities");
        int values = AttributeRules.values(device.at("attributes").value());
        requireAtMost(device, values, limits.attributeValues(), "attribute values");
    }

    private static void requireAtMost(Field device, int count, int limit, String of) {
        if (count > limit) {
            device.invalid(count, "the total number of " + of + " must not exceed " + limit);
        }
    }

    private void checkTaints(Field taints) {
        if (taints.requireAtMost(limits.taints())) {
            taints.items().forEach(DeviceRules::checkTaint);
        }
    }

    static void checkTaint(Field taint) {
        taint.at("key").requireForm(Names::qualifiedNameProblems);
        taint.at("value").requireForm(Names::labelValueProblems);
        if (taint.at("effect").requireText()) {
            taint.at("effect").requireOneOf(EFFECTS);
        }
    }

    private static void checkPlacement(Field device, boolean perDevice) {
        boolean placed = PLACEMENTS.stream().anyMatch(field -> device.at(field).present());
        if (!perDevice && placed) {
            device.invalidNull("`nodeName`, `nodeSelector` and `allNodes` can only be set if"
                    + " `perDeviceNodeSelection` is set to true in the ResourceSlice spec");
        } else if (perDevice) {
            checkOnePlacement(device);
        }
    }

    private static void checkOnePlacement(Field device) {
        Field name = device.at("nodeName");
        if (name.present() && name.text().isEmpty()) {
            name.invalid("must not be empty");
        }
        List<String> chosen = NodeRules.checkChosen(device);
        String rule = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
                + " `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        if (chosen.isEmpty()) {
            device.required(rule);
        } else {
            device.requireThat(chosen.size() == 1, "{" + String.join(", ", chosen) + "}", rule);
        }
    }
}
