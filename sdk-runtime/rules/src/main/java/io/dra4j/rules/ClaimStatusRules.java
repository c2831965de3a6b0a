// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Rules for a claim's status: the allocation by the scheduler, the consumers, and the device status
 * by drivers.
 */
final class ClaimStatusRules {
    private static final int RESULTS = 32;
    private static final int ALLOCATION_CONFIGS = 64;
    private static final int CONSUMERS = 256;
    private static final int IPS = 16;
    private static final int INTERFACE_NAME = 256;
    private static final int HARDWARE_ADDRESS = 128;
    private static final Pattern UUID =
            Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final List<String> SOURCES = List.of("FromClaim", "FromClass");

    private ClaimStatusRules() {}

    /** Driver, pool, device and share id: the identity of an allocated device. */
    static String deviceKey(JsonNode device) {
        return String.join(
                "/",
                device.path("driver").asText(),
                device.path("pool").asText(),
                device.path("device").asText(),
                device.path("shareID").asText());
    }

    static Set<String> allocated(JsonNode claim) {
        return claim.path("status")
                .path("allocation")
                .path("devices")
                .path("results")
                .valueStream()
                .map(ClaimStatusRules::deviceKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static void check(JsonNode claim, JsonNode old, FieldErrors errors) {
        Field status = new Field(claim.path("status"), "status", errors);
        Field allocation = status.at("allocation");
        JsonNode oldAllocation = old.path("status").path("allocation");
        boolean changed =
                !oldAllocation.isMissingNode()
                        && allocation.value().isObject()
                        && !allocation.value().equals(oldAllocation);
        allocation.requireThat(!changed, "", "field is immutable once set");
        checkAllocation(claim, allocation);
        checkConsumers(status);
        checkDevices(allocated(claim), status.at("devices"));
    }

    private static void checkAllocation(JsonNode claim, Field allocation) {
        Field results = allocation.at("devices").at("results");
        results.requireAtMost(RESULTS);
        Set<String> requests = RequestNames.of(claim);
        for (Field result : results.items()) {
            RequestNames.requireKnown(result.at("request"), requests);
            checkDevice(result);
            NodeOperationRules.check(result.at("skipNodeOperations"));
        }
        Field configs = allocation.at("devices").at("config");
        RequestRules.checkConfigs(configs, ALLOCATION_CONFIGS);
        for (Field config : configs.items()) {
            if (config.at("source").requireText()) {
                config.at("source").requireOneOf(SOURCES);
            }
        }
        Field selector = allocation.at("nodeSelector");
        if (selector.present()) {
            NodeRules.checkSelector(selector);
            NodeRules.requireOneTerm(selector);
        }
    }

    private static void checkDevice(Field device) {
        DeviceRules.checkDriver(device.at("driver"));
        SliceRules.checkPoolName(device.at("pool"));
        DeviceRules.checkDeviceName(device.at("device"));
        Field share = device.at("shareID");
        boolean valid = !device.value().has("shareID") || UUID.matcher(share.text()).matches();
        share.requireThat(valid, "must be a lowercase UUID in RFC 4122 form");
    }

    private static void checkConsumers(Field status) {
        Field consumers = status.at("reservedFor");
        if (consumers.size() > 0 && !status.value().has("allocation")) {
            consumers.forbidden("may not be specified when `allocated` is not set");
        }
        consumers.requireAtMost(CONSUMERS);
        Set<String> uids = new HashSet<>();
        for (Field consumer : consumers.items()) {
            List.of("resource", "name", "uid").forEach(field -> consumer.at(field).requireText());
            consumer.at("uid").requireUnique(uids);
        }
    }

    private static void checkDevices(Set<String> allocated, Field devices) {
        Set<String> seen = new HashSet<>();
        for (Field device : devices.items()) {
            checkDevice(device);
            String key = deviceKey(device.value());
            if (!seen.add(key)) {
                device.errors().duplicate(device.path(), key);
            }
            boolean isAllocated = allocated.contains(key);
            device.requireThat(isAllocated, key, "must be an allocated device in the claim");
            ConditionRules.check(device.at("conditions"));
            RequestRules.checkRaw(device.at("data"), false);
            checkNetwork(device.at("networkData"));
        }
    }

    private static void checkNetwork(Field network) {
        network.at("interfaceName").requireLength(INTERFACE_NAME);
        network.at("hardwareAddress").requireLength(HARDWARE_ADDRESS);
        network.at("ips").requireAtMost(IPS);
        Set<String> seen = new HashSet<>();
        for (Field address : network.at("ips").items()) {
            String problem = Addresses.problem(address.text());
            address.requireThat(problem.isEmpty(), problem);
            address.requireUnique(seen);
        }
    }
}
