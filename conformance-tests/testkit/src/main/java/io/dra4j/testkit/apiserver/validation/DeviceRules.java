// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.ArrayList;
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

    DeviceRules(SliceLimits limits, CounterRules counters) {
        this.limits = limits;
        this.counters = counters;
    }

    /** Returns whether the device lowers the limit of its slice. */
    static boolean isComplex(JsonNode device) {
        return !device.path("taints").isEmpty()
                || !device.path("consumesCounters").isEmpty()
                || AttributeRules.hasList(device.path("attributes"));
    }

    static void checkDriver(String driver, String field, FieldErrors errors) {
        if (driver.isEmpty()) {
            errors.required(field, "");
            return;
        }
        if (driver.length() > DRIVER_LENGTH) {
            errors.tooLong(field, DRIVER_LENGTH);
        }
        String problem = Names.driverProblem(driver);
        if (!problem.isEmpty()) {
            errors.invalid(field, driver, problem);
        }
    }

    static void checkDeviceName(String name, String field, FieldErrors errors) {
        if (name.isEmpty()) {
            errors.required(field, "");
        } else if (!Names.dnsLabelProblem(name).isEmpty()) {
            errors.invalid(field, name, Names.dnsLabelProblem(name));
        }
    }

    void check(JsonNode device, String path, boolean perDevice, FieldErrors errors) {
        checkDeviceName(device.path("name").asText(), path + ".name", errors);
        int keys = device.path("attributes").size() + device.path("capacity").size();
        if (keys > SliceLimits.ATTRIBUTES_AND_CAPACITIES) {
            errors.invalid(
                    path,
                    keys,
                    "the total number of attributes and capacities must not exceed "
                            + SliceLimits.ATTRIBUTES_AND_CAPACITIES);
        }
        AttributeRules.check(
                device.path("attributes"), path + ".attributes", limits.attributeValues(), errors);
        CapacityRules.check(device, path, errors);
        checkTaints(device.path("taints"), path + ".taints", errors);
        counters.checkConsumed(device, path, errors);
        checkPlacement(device, path, perDevice, errors);
        checkBinding(device, path, errors);
        checkNodeAllocatable(device, path, errors);
    }

    private void checkTaints(JsonNode taints, String path, FieldErrors errors) {
        if (taints.size() > limits.taints()) {
            errors.tooMany(path, taints.size(), limits.taints());
        }
        for (int i = 0; i < taints.size(); i++) {
            JsonNode taint = taints.get(i);
            String entry = path + "[" + i + "]";
            String key = taint.path("key").asText();
            if (!Names.qualifiedNameProblem(key).isEmpty()) {
                errors.invalid(entry + ".key", key, Names.qualifiedNameProblem(key));
            }
            String value = taint.path("value").asText();
            if (!Names.labelValueProblem(value).isEmpty()) {
                errors.invalid(entry + ".value", value, Names.labelValueProblem(value));
            }
            String effect = taint.path("effect").asText();
            if (effect.isEmpty()) {
                errors.required(entry + ".effect", "");
            } else if (!EFFECTS.contains(effect)) {
                errors.notSupported(entry + ".effect", effect, EFFECTS);
            }
        }
    }

    private static void checkPlacement(
            JsonNode device, String path, boolean perDevice, FieldErrors errors) {
        List<String> set =
                PLACEMENTS.stream().filter(field -> Json.present(device, field)).toList();
        if (perDevice && set.size() != 1) {
            errors.invalid(
                    path,
                    "{" + String.join(", ", set) + "}",
                    "exactly one of `nodeName`, `nodeSelector` or"
                            + " `allNodes` is required when `perDeviceNodeSelection` is set to true in the slice");
        }
        if (!perDevice) {
            set.forEach(
                    field ->
                            errors.forbidden(
                                    path + "." + field,
                                    "must not be set unless `perDeviceNodeSelection` is true in the slice"));
        }
        NodeRules.checkName(device, path + ".nodeName", errors);
        NodeRules.checkSelector(device, path + ".nodeSelector", 0, errors);
        NodeRules.checkTrueOrUnset(device, "allNodes", path + ".allNodes", errors);
    }

    private static void checkBinding(JsonNode device, String path, FieldErrors errors) {
        List<String> conditions = checkConditions(device, "bindingConditions", path, errors);
        List<String> failures = checkConditions(device, "bindingFailureConditions", path, errors);
        if (conditions.isEmpty() != failures.isEmpty()) {
            errors.invalid(
                    path,
                    "",
                    "bindingConditions and bindingFailureConditions must be set together");
        }
        failures.stream()
                .filter(conditions::contains)
                .forEach(
                        both ->
                                errors.invalid(
                                        path + ".bindingFailureConditions",
                                        both,
                                        "must not overlap with bindingConditions"));
    }

    private static List<String> checkConditions(
            JsonNode device, String field, String path, FieldErrors errors) {
        JsonNode list = device.path(field);
        if (list.size() > BINDING_CONDITIONS) {
            errors.tooMany(path + "." + field, list.size(), BINDING_CONDITIONS);
        }
        List<String> names = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < list.size(); i++) {
            String name = list.get(i).asText();
            String entry = path + "." + field + "[" + i + "]";
            if (!Names.qualifiedNameProblem(name).isEmpty()) {
                errors.invalid(entry, name, Names.qualifiedNameProblem(name));
            }
            if (!seen.add(name)) {
                errors.duplicate(entry, name);
            }
            names.add(name);
        }
        return names;
    }

    private static void checkNodeAllocatable(JsonNode device, String path, FieldErrors errors) {
        device.path("nodeAllocatableResourceMappings")
                .properties()
                .forEach(
                        mapping -> {
                            String entry =
                                    path
                                            + ".nodeAllocatableResourceMappings["
                                            + mapping.getKey()
                                            + "]";
                            boolean isNative =
                                    !mapping.getKey().contains("/")
                                            || mapping.getKey().startsWith("kubernetes.io/");
                            if (!isNative) {
                                errors.invalid(
                                        entry, mapping.getKey(), "must be a native resource name");
                            }
                            JsonNode multiplier = mapping.getValue().path("allocationMultiplier");
                            if (multiplier.isTextual()
                                    && Quantities.exact(multiplier.asText()).signum() <= 0) {
                                errors.invalid(
                                        entry + ".allocationMultiplier",
                                        multiplier.asText(),
                                        "must be greater than zero");
                            }
                            String key = mapping.getValue().path("capacityKey").asText();
                            if (!key.isEmpty() && !device.path("capacity").has(key)) {
                                errors.invalid(
                                        entry + ".capacityKey",
                                        key,
                                        "must be a key of the device's capacity");
                            }
                        });
    }
}
