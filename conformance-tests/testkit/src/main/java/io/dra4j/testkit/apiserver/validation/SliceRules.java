// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.KubernetesVersion;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Validates the spec of ResourceSlices, written from the API's documentation and not from the SDK's
 * checks.
 */
final class SliceRules {
    private static final List<String> PLACEMENTS =
            List.of("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection");

    private final KubernetesVersion version;
    private final SliceLimits limits;
    private final DeviceRules devices;
    private final CounterRules counters;

    SliceRules(KubernetesVersion version) {
        this.version = version;
        this.limits = SliceLimits.of(version);
        this.counters = new CounterRules(limits);
        this.devices = new DeviceRules(limits, counters);
    }

    void check(JsonNode spec, FieldErrors errors) {
        DeviceRules.checkDriver(spec.path("driver").asText(), "spec.driver", errors);
        checkPool(spec.path("pool"), errors);
        checkPlacement(spec, errors);
        checkExclusive(spec, errors);
        checkDevices(spec, errors);
        counters.checkSets(spec.path("sharedCounters"), errors);
        counters.checkConsumed(spec, errors);
        if (!version.atLeast(KubernetesVersion.V1_35)) {
            CounterRules.checkResolved(spec, errors);
        }
    }

    void checkImmutable(JsonNode spec, JsonNode old, FieldErrors errors) {
        unchanged(spec.path("driver"), old.path("driver"), "spec.driver", errors);
        unchanged(
                Json.at(spec, "pool", "name"),
                Json.at(old, "pool", "name"),
                "spec.pool.name",
                errors);
        unchanged(spec.path("nodeName"), old.path("nodeName"), "spec.nodeName", errors);
    }

    private static void unchanged(JsonNode value, JsonNode old, String field, FieldErrors errors) {
        if (!value.equals(old)) {
            errors.invalid(field, value.asText(), "field is immutable");
        }
    }

    private static void checkPool(JsonNode pool, FieldErrors errors) {
        checkPoolName(pool.path("name").asText(), "spec.pool.name", errors);
        if (pool.path("generation").asLong() < 0) {
            errors.invalid(
                    "spec.pool.generation",
                    pool.path("generation").asLong(),
                    "must be greater than or equal to zero");
        }
        if (pool.path("resourceSliceCount").asLong() <= 0) {
            errors.invalid(
                    "spec.pool.resourceSliceCount",
                    pool.path("resourceSliceCount").asLong(),
                    "must be greater than zero");
        }
    }

    /** A pool's name is one or more DNS subdomains, joined by slashes. */
    static void checkPoolName(String name, String field, FieldErrors errors) {
        if (name.isEmpty()) {
            errors.required(field, "");
            return;
        }
        if (name.length() > 253) {
            errors.tooLong(field, 253);
        }
        for (String part : name.split("/", -1)) {
            String problem = Names.dnsSubdomainProblem(part);
            if (!problem.isEmpty()) {
                errors.invalid(field, part, problem);
            }
        }
    }

    private static void checkPlacement(JsonNode spec, FieldErrors errors) {
        List<String> set = PLACEMENTS.stream().filter(field -> Json.present(spec, field)).toList();
        if (set.isEmpty()) {
            errors.required(
                    "spec",
                    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is"
                            + " required");
        } else if (set.size() > 1) {
            errors.invalid(
                    "spec",
                    "{" + String.join(", ", set) + "}",
                    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required");
        }
        NodeRules.checkName(spec, "spec.nodeName", errors);
        NodeRules.checkSelector(spec, "spec.nodeSelector", 1, errors);
        NodeRules.checkTrueOrUnset(spec, "allNodes", "spec.allNodes", errors);
        NodeRules.checkTrueOrUnset(
                spec, "perDeviceNodeSelection", "spec.perDeviceNodeSelection", errors);
    }

    /** Even an empty list counts as set: a slice is for devices or for counters. */
    private void checkExclusive(JsonNode spec, FieldErrors errors) {
        boolean both = Json.present(spec, "devices") && Json.present(spec, "sharedCounters");
        if (both && version.atLeast(KubernetesVersion.V1_35)) {
            errors.invalid(
                    "spec",
                    "{devices, sharedCounters}",
                    "only one of `sharedCounters` or `devices` is allowed");
        }
    }

    private void checkDevices(JsonNode spec, FieldErrors errors) {
        JsonNode list = spec.path("devices");
        boolean complex = false;
        Set<String> names = new HashSet<>();
        boolean perDevice = spec.path("perDeviceNodeSelection").asBoolean();
        for (int i = 0; i < list.size(); i++) {
            JsonNode device = list.get(i);
            String path = "spec.devices[" + i + "]";
            complex |= DeviceRules.isComplex(device);
            devices.check(device, path, perDevice, errors);
            String name = device.path("name").asText();
            if (!name.isEmpty() && !names.add(name)) {
                errors.duplicate(path + ".name", name);
            }
        }
        int limit = complex ? limits.complexDevices() : SliceLimits.DEVICES;
        if (list.size() > limit) {
            errors.tooMany("spec.devices", list.size(), limit);
        }
    }
}
