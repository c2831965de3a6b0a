// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Rules for a claim's status: what the scheduler allocated, who uses it, and what drivers report of
 * its devices.
 */
final class ClaimStatusRules {
    private static final int RESULTS = 32;
    private static final int ALLOCATION_CONFIGS = 64;
    private static final int CONSUMERS = 256;
    private static final int CONDITIONS = 8;
    private static final int IPS = 16;
    private static final int INTERFACE_NAME = 256;
    private static final int HARDWARE_ADDRESS = 128;
    private static final Pattern UUID =
            Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern REASON = Pattern.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");
    private static final List<String> STATUSES = List.of("False", "True", "Unknown");

    private ClaimStatusRules() {}

    /** Driver, pool, device and share id: the identity of an allocated device. */
    static String deviceKey(JsonNode device) {
        return String.join(
                "/",
                Json.text(device, "driver"),
                Json.text(device, "pool"),
                Json.text(device, "device"),
                Json.text(device, "shareID"));
    }

    /** The keys of all allocated devices. */
    static Set<String> allocated(JsonNode claim) {
        Set<String> keys = new TreeSet<>();
        Json.at(claim, "status", "allocation", "devices", "results")
                .forEach(result -> keys.add(deviceKey(result)));
        return keys;
    }

    static void check(JsonNode claim, JsonNode old, FieldErrors errors) {
        JsonNode status = claim.path("status");
        JsonNode allocation = status.path("allocation");
        JsonNode oldAllocation = Json.at(old, "status", "allocation");
        if (!oldAllocation.isMissingNode()
                && allocation.isObject()
                && !allocation.equals(oldAllocation)) {
            errors.invalid("status.allocation", "", "field is immutable once set");
        }
        checkAllocation(claim, allocation, errors);
        checkConsumers(status, errors);
        checkDevices(claim, status.path("devices"), errors);
    }

    private static void checkAllocation(JsonNode claim, JsonNode allocation, FieldErrors errors) {
        JsonNode results = Json.at(allocation, "devices", "results");
        String path = "status.allocation.devices";
        if (results.size() > RESULTS) {
            errors.tooMany(path + ".results", results.size(), RESULTS);
        }
        Set<String> requests = requestNames(claim);
        for (int i = 0; i < results.size(); i++) {
            checkResult(results.get(i), path + ".results[" + i + "]", requests, errors);
        }
        JsonNode configs = Json.at(allocation, "devices", "config");
        RequestRules.checkConfigs(configs, path + ".config", ALLOCATION_CONFIGS, errors);
        for (int i = 0; i < configs.size(); i++) {
            String source = configs.get(i).path("source").asText();
            List<String> sources = List.of("FromClaim", "FromClass");
            if (source.isEmpty()) {
                errors.required(path + ".config[" + i + "].source", "");
            } else if (!sources.contains(source)) {
                errors.notSupported(path + ".config[" + i + "].source", source, sources);
            }
        }
        NodeRules.checkSelector(allocation, "status.allocation.nodeSelector", 1, errors);
    }

    private static Set<String> requestNames(JsonNode claim) {
        Set<String> names = new HashSet<>();
        for (JsonNode request : Json.at(claim, "spec", "devices", "requests")) {
            String name = request.path("name").asText();
            // Of a request with alternatives as well: the real server takes it without the
            // subrequest.
            names.add(name);
            request.path("firstAvailable")
                    .forEach(sub -> names.add(name + "/" + sub.path("name").asText()));
        }
        return names;
    }

    private static void checkResult(
            JsonNode result, String path, Set<String> requests, FieldErrors errors) {
        String request = result.path("request").asText();
        if (!requests.contains(request)) {
            errors.invalid(
                    path + ".request",
                    request,
                    "must be the name of a request in the claim or the name of a request and a subrequest separated by"
                            + " '/'");
        }
        checkDevice(result, path, errors);
    }

    private static void checkDevice(JsonNode device, String path, FieldErrors errors) {
        DeviceRules.checkDriver(device.path("driver").asText(), path + ".driver", errors);
        SliceRules.checkPoolName(device.path("pool").asText(), path + ".pool", errors);
        DeviceRules.checkDeviceName(device.path("device").asText(), path + ".device", errors);
        String share = device.path("shareID").asText();
        if (device.has("shareID") && !UUID.matcher(share).matches()) {
            errors.invalid(path + ".shareID", share, "must be a lowercase UUID in RFC 4122 form");
        }
    }

    private static void checkConsumers(JsonNode status, FieldErrors errors) {
        JsonNode consumers = status.path("reservedFor");
        if (!consumers.isEmpty() && !status.has("allocation")) {
            errors.forbidden(
                    "status.reservedFor", "may not be specified when `allocated` is not set");
        }
        if (consumers.size() > CONSUMERS) {
            errors.tooMany("status.reservedFor", consumers.size(), CONSUMERS);
        }
        Set<String> uids = new HashSet<>();
        for (int i = 0; i < consumers.size(); i++) {
            String path = "status.reservedFor[" + i + "]";
            for (String field : List.of("resource", "name", "uid")) {
                if (Json.text(consumers.get(i), field).isEmpty()) {
                    errors.required(path + "." + field, "");
                }
            }
            if (!uids.add(Json.text(consumers.get(i), "uid"))) {
                errors.duplicate(path + ".uid", Json.text(consumers.get(i), "uid"));
            }
        }
    }

    private static void checkDevices(JsonNode claim, JsonNode devices, FieldErrors errors) {
        Set<String> allocated = allocated(claim);
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < devices.size(); i++) {
            JsonNode device = devices.get(i);
            String path = "status.devices[" + i + "]";
            checkDevice(device, path, errors);
            String key = deviceKey(device);
            if (!seen.add(key)) {
                errors.duplicate(path, key);
            }
            if (!allocated.contains(key)) {
                errors.invalid(path, key, "must be an allocated device in the claim");
            }
            checkConditions(device.path("conditions"), path + ".conditions", errors);
            RequestRules.checkRaw(device, "data", false, path, errors);
            checkNetwork(device.path("networkData"), path + ".networkData", errors);
        }
    }

    private static void checkConditions(JsonNode conditions, String path, FieldErrors errors) {
        if (conditions.size() > CONDITIONS) {
            errors.tooMany(path, conditions.size(), CONDITIONS);
        }
        Set<String> types = new HashSet<>();
        for (int i = 0; i < conditions.size(); i++) {
            JsonNode condition = conditions.get(i);
            String entry = path + "[" + i + "]";
            String type = condition.path("type").asText();
            if (type.isEmpty()) {
                errors.required(entry + ".type", "");
            } else if (!Names.qualifiedNameProblem(type).isEmpty()) {
                errors.invalid(entry + ".type", type, Names.qualifiedNameProblem(type));
            }
            if (!types.add(type)) {
                errors.duplicate(entry + ".type", type);
            }
            checkCondition(condition, entry, errors);
        }
    }

    private static void checkCondition(JsonNode condition, String path, FieldErrors errors) {
        String status = condition.path("status").asText();
        if (!STATUSES.contains(status)) {
            errors.notSupported(path + ".status", status, STATUSES);
        }
        String reason = condition.path("reason").asText();
        if (reason.isEmpty()) {
            errors.required(path + ".reason", "");
        } else if (reason.length() > 1024) {
            errors.tooLong(path + ".reason", 1024);
        } else if (!REASON.matcher(reason).matches()) {
            errors.invalid(
                    path + ".reason",
                    reason,
                    "a condition reason must start with alphabetic character");
        }
        if (condition.path("message").asText().length() > 32768) {
            errors.tooLong(path + ".message", 32768);
        }
        if (!condition.has("lastTransitionTime")) {
            errors.required(path + ".lastTransitionTime", "");
        }
        if (condition.path("observedGeneration").asLong() < 0) {
            errors.invalid(
                    path + ".observedGeneration",
                    condition.path("observedGeneration").asLong(),
                    "must be greater than or equal to zero");
        }
    }

    private static void checkNetwork(JsonNode network, String path, FieldErrors errors) {
        if (network.path("interfaceName").asText().length() > INTERFACE_NAME) {
            errors.tooLong(path + ".interfaceName", INTERFACE_NAME);
        }
        if (network.path("hardwareAddress").asText().length() > HARDWARE_ADDRESS) {
            errors.tooLong(path + ".hardwareAddress", HARDWARE_ADDRESS);
        }
        JsonNode ips = network.path("ips");
        if (ips.size() > IPS) {
            errors.tooMany(path + ".ips", ips.size(), IPS);
        }
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < ips.size(); i++) {
            String address = ips.get(i).asText();
            if (!address.matches("[0-9a-f.:]+/[0-9]{1,3}")) {
                errors.invalid(
                        path + ".ips[" + i + "]",
                        address,
                        "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
            }
            if (!seen.add(address)) {
                errors.duplicate(path + ".ips[" + i + "]", address);
            }
        }
    }
}
