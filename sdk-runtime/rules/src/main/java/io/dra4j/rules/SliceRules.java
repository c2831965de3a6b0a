// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Validates the spec of ResourceSlices in the order and words of the real server, independently of the SDK's checks.
 */
public record SliceRules(FeatureGates gates) {
    private static final int POOL_NAME_LENGTH = 253;
    private static final String ONE_PLACEMENT =
            "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

    /** Checks the spec of a new slice. */
    public void check(JsonNode json, FieldErrors errors) {
        checkUpdate(json, MissingNode.getInstance(), errors);
    }

    /** Checks a spec that replaces an old one, some of whose fields are immutable. */
    public void checkUpdate(JsonNode json, JsonNode old, FieldErrors errors) {
        Field spec = new Field(json, "spec", errors);
        CounterRules counters = new CounterRules(gates, SliceLimits.of(gates.version()));
        DeviceRules.checkDriver(spec.at("driver"));
        checkPool(spec.at("pool"));
        if (old.isObject()) {
            checkUnchanged(spec, old);
        }
        checkPlacement(spec);
        checkExclusive(spec);
        checkDevices(spec, old, counters);
        counters.checkSets(spec.at("sharedCounters"));
        counters.checkAllConsumed(spec.at("devices"));
        new PartitionTypeRules(new AttributeKeys(gates.version())).check(spec);
        DeviceRules.checkSkippedOperations(spec.at("skipNodeOperations"));
        if (!gates.version().atLeast(KubernetesVersion.V1_35)) {
            CounterRules.checkResolved(spec);
        }
    }

    private static void checkUnchanged(Field spec, JsonNode old) {
        String rule = "field is immutable";
        Field pool = spec.at("pool").at("name");
        pool.requireThat(pool.text().equals(old.path("pool").path("name").asText()), rule);
        spec.at("driver")
                .requireThat(spec.at("driver").text().equals(old.path("driver").asText()), rule);
        if (!spec.at("nodeName").value().equals(old.path("nodeName"))) {
            spec.at("nodeName").invalidValue(rule);
        }
    }

    private static void checkPool(Field pool) {
        checkPoolName(pool.at("name"));
        pool.at("resourceSliceCount").requirePositive();
        pool.at("generation").requireNotNegative();
    }

    /** Checks a pool's name: one or more DNS subdomains, joined by slashes. */
    static void checkPoolName(Field name) {
        if (!name.requireText()) {
            return;
        }
        name.requireLength(POOL_NAME_LENGTH);
        for (String part : name.text().split("/", -1)) {
            name.requireForm(part, Names::dnsSubdomainProblems);
        }
    }

    private static void checkPlacement(Field spec) {
        List<String> set = new ArrayList<>();
        Field name = spec.at("nodeName");
        if (name.present() && name.text().isEmpty()) {
            name.invalid("must be either unset or set to a non-empty string");
        }
        set.addAll(NodeRules.checkChosen(spec));
        NodeRules.requireOneTerm(spec.at("nodeSelector"));
        if (NodeRules.isChosen(spec.at("perDeviceNodeSelection"))) {
            set.add("`perDeviceNodeSelection`");
        }
        if (set.isEmpty()) {
            spec.required(ONE_PLACEMENT);
        } else if (set.size() > 1) {
            String rule = ONE_PLACEMENT + ", but multiple fields are set";
            spec.invalid("{" + String.join(", ", set) + "}", rule);
        }
    }

    /** Checks that a slice has devices or counters, not both; even an empty list counts as set. */
    private void checkExclusive(Field spec) {
        boolean both = spec.at("devices").present() && spec.at("sharedCounters").present();
        if (both && gates.version().atLeast(KubernetesVersion.V1_35)) {
            spec.invalid("", "only one of `sharedCounters` or `devices` is allowed");
        }
    }

    private void checkDevices(Field spec, JsonNode old, CounterRules counters) {
        SliceLimits limits = counters.limits();
        Field list = spec.at("devices");
        boolean complex = list.value().valueStream().anyMatch(DeviceRules::isComplex);
        if (!list.requireAtMost(complex ? limits.complexDevices() : SliceLimits.DEVICES)) {
            return;
        }
        boolean perDevice = spec.value().path("perDeviceNodeSelection").asBoolean();
        JsonNode stored = isRevalidated(list, old) ? MissingNode.getInstance() : old.path("devices");
        DeviceRules devices = new DeviceRules(gates, limits, counters);
        for (Field device : list.items()) {
            devices.check(device, before(device, stored), perDevice);
        }
        list.requireUniqueItems(device -> device.at("name").text());
    }

    /** Returns whether each device is checked like a new one: from 1.38, if the list changes in any way (#141644). */
    private boolean isRevalidated(Field devices, JsonNode old) {
        return gates.version().atLeast(KubernetesVersion.V1_38)
                && !devices.value().equals(old.path("devices"));
    }

    /** Returns the device of this name in the old list, some parts of which are not checked again. */
    private static JsonNode before(Field device, JsonNode old) {
        String name = device.at("name").text();
        return old.valueStream()
                .filter(one -> one.path("name").asText().equals(name))
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    /** Rules for the attribute that names the type of a slice's partitions. */
    private record PartitionTypeRules(AttributeKeys names) {

        void check(Field spec) {
            Field named = spec.at("partitionTypeAttribute");
            if (!named.present()) {
                return;
            }
            boolean partitions = spec.at("devices").value().valueStream().anyMatch(PartitionTypeRules::isPartition);
            named.requireThat(partitions, "may only be set on a slice which declares devices that consume counters");
            if (names.checkFullName(named) && partitions) {
                for (Field device : spec.at("devices").items()) {
                    if (isPartition(device.value())) {
                        checkDevice(device, named.text(), spec.at("driver").text());
                    }
                }
            }
        }

        private static boolean isPartition(JsonNode device) {
            return !device.path("consumesCounters").isEmpty();
        }

        /** Checks the attribute of a device, whose name may omit the driver's domain. */
        private static void checkDevice(Field device, String name, String driver) {
            JsonNode attributes = device.value().path("attributes");
            String bare = new OwnNames(driver).bare(name);
            Field attribute = device.at("attributes").key(name);
            if (!attributes.has(name) && !attributes.has(bare)) {
                attribute.required(
                        "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set");
                return;
            }
            JsonNode found = attributes.path(attributes.has(name) ? name : bare);
            String rule = "must be a string value because `partitionTypeAttribute` names this attribute";
            attribute.requireThat(found.has("string"), found, rule);
        }
    }
}
