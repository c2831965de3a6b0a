// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Validates the spec of ResourceSlices, written from the API's documentation and not from the SDK's
 * checks.
 */
public final class SliceRules {
    private static final List<String> PLACEMENTS =
            List.of("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection");
    private static final String ONE_PLACEMENT =
            "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

    private final KubernetesVersion version;
    private final SliceLimits limits;
    private final DeviceRules devices;
    private final CounterRules counters;

    public SliceRules(FeatureGates gates) {
        this.version = gates.version();
        this.limits = SliceLimits.of(version);
        this.counters = new CounterRules(limits);
        boolean fractional = gates.enabled(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE);
        this.devices = new DeviceRules(limits, counters, new CapacityRules(fractional));
    }

    public void check(JsonNode json, FieldErrors errors) {
        Field spec = new Field(json, "spec", errors);
        DeviceRules.checkDriver(spec.at("driver"));
        checkPool(spec.at("pool"));
        checkPlacement(spec);
        checkExclusive(spec);
        checkDevices(spec);
        counters.checkSets(spec.at("sharedCounters"));
        counters.checkAllConsumed(spec.at("devices"));
        PartitionTypeRules.check(spec);
        NodeOperationRules.check(spec.at("skipNodeOperations"));
        if (!version.atLeast(KubernetesVersion.V1_35)) {
            CounterRules.checkResolved(spec);
        }
    }

    public void checkImmutable(JsonNode json, JsonNode old, FieldErrors errors) {
        Field spec = new Field(json, "spec", errors);
        unchanged(spec.at("driver"), old.path("driver"));
        unchanged(spec.at("pool").at("name"), old.path("pool").path("name"));
        unchanged(spec.at("nodeName"), old.path("nodeName"));
    }

    private static void unchanged(Field field, JsonNode old) {
        field.requireThat(field.value().equals(old), "field is immutable");
    }

    private static void checkPool(Field pool) {
        checkPoolName(pool.at("name"));
        pool.at("generation").requireNotNegative();
        pool.at("resourceSliceCount").requirePositive();
    }

    /** A pool's name is one or more DNS subdomains, joined by slashes. */
    static void checkPoolName(Field name) {
        if (!name.requireText()) {
            return;
        }
        name.requireLength(253);
        for (String part : name.text().split("/", -1)) {
            name.requireForm(part, Names::dnsSubdomainProblem);
        }
    }

    private static void checkPlacement(Field spec) {
        List<String> set = PLACEMENTS.stream().filter(field -> spec.at(field).present()).toList();
        if (set.isEmpty()) {
            spec.required(ONE_PLACEMENT);
        } else if (set.size() > 1) {
            spec.invalid("{" + String.join(", ", set) + "}", ONE_PLACEMENT);
        }
        NodeRules.check(spec, 1);
        NodeRules.checkTrueOrUnset(spec.at("perDeviceNodeSelection"));
    }

    /** Even an empty list counts as set: a slice is for devices or for counters. */
    private void checkExclusive(Field spec) {
        boolean both = spec.at("devices").present() && spec.at("sharedCounters").present();
        if (both && version.atLeast(KubernetesVersion.V1_35)) {
            spec.invalid(
                    "{devices, sharedCounters}",
                    "only one of `sharedCounters` or `devices` is allowed");
        }
    }

    private void checkDevices(Field spec) {
        boolean complex = false;
        Set<String> names = new HashSet<>();
        boolean perDevice = spec.value().path("perDeviceNodeSelection").asBoolean();
        for (Field device : spec.at("devices").items()) {
            complex |= DeviceRules.isComplex(device.value());
            devices.check(device, perDevice);
            if (!device.at("name").text().isEmpty()) {
                device.at("name").requireUnique(names);
            }
        }
        spec.at("devices").requireAtMost(complex ? limits.complexDevices() : SliceLimits.DEVICES);
    }
}
