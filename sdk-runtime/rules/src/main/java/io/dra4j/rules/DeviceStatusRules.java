// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules for the status that drivers report for the devices of a claim. */
public final class DeviceStatusRules {
    private static final int IPS = 16;
    private static final int INTERFACE_NAME = 256;
    private static final int HARDWARE_ADDRESS = 128;

    private DeviceStatusRules() {}

    /**
     * @param allocated the keys of the devices that the claim was allocated
     */
    static void check(Field devices, Set<String> allocated) {
        devices.items().forEach(device -> checkDevice(device, allocated));
        Set<DeviceKey> seen = new HashSet<>();
        for (Field device : devices.items()) {
            DeviceKey key = DeviceKey.of(device.value());
            if (!seen.add(key)) {
                device.errors().duplicate(device.path(), key.shown());
            }
        }
    }

    static void checkIdentity(Field device) {
        DeviceRules.checkDriver(device.at("driver"));
        SliceRules.checkPoolName(device.at("pool"));
        DeviceRules.checkDeviceName(device.at("device"));
        if (device.at("shareID").present()) {
            device.at("shareID").requireForm(UuidRules::problems);
        }
    }

    /** The identity of an allocated device; for a share, the id is part of it. */
    record DeviceKey(String driver, String pool, String device, String shareId) {

        static DeviceKey of(JsonNode device) {
            return new DeviceKey(
                    device.path("driver").asText(),
                    device.path("pool").asText(),
                    device.path("device").asText(),
                    device.path("shareID").asText());
        }

        /** Returns the form in which the server shows it in messages. */
        ObjectNode shown() {
            return JsonNodeFactory.instance
                    .objectNode()
                    .put("Driver", driver)
                    .put("Pool", pool)
                    .put("Device", device)
                    .put("ShareID", shareId);
        }

        @Override
        public String toString() {
            return String.join("/", driver, pool, device, shareId);
        }
    }

    private static void checkDevice(Field device, Set<String> allocated) {
        checkIdentity(device);
        DeviceKey key = DeviceKey.of(device.value());
        boolean isAllocated = allocated.contains(key.toString());
        device.requireThat(isAllocated, key.shown(), "must be an allocated device in the claim");
        checkReport(device);
    }

    public static void checkReport(Field device) {
        device.at("conditions").requireAtMost(ClaimLimits.DEVICE_CONDITIONS);
        ConditionRules.check(device.at("conditions"));
        if (device.at("data").present()) {
            ConfigRules.checkRaw(device.at("data"));
        }
        checkNetwork(device.at("networkData"));
    }

    private static void checkNetwork(Field network) {
        network.at("interfaceName").requireLength(INTERFACE_NAME);
        network.at("hardwareAddress").requireLength(HARDWARE_ADDRESS);
        Field ips = network.at("ips");
        if (ips.requireAtMost(IPS)) {
            ips.items().forEach(DeviceStatusRules::checkAddress);
            ips.requireUniqueItems(Field::text);
        }
    }

    private static void checkAddress(Field address) {
        String problem = Addresses.problem(address.text());
        address.requireThat(problem.isEmpty(), problem);
    }

    /** Rules for UUIDs: forms that the server can read but rejects have a separate problem. */
    private static final class UuidRules {
        private static final int LENGTH = 36;
        private static final String URN = "urn:uuid:";
        private static final Pattern HYPHENS = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
        private static final Pattern NO_HYPHENS = Pattern.compile("[0-9a-fA-F]{32}");

        private UuidRules() {}

        static List<String> problems(String text) {
            String unreadable = unreadable(text);
            if (!unreadable.isEmpty()) {
                return List.of("error validating uid: " + unreadable);
            }
            boolean normal = text.length() == LENGTH && text.equals(text.toLowerCase(Locale.ROOT));
            return normal
                    ? List.of()
                    : List.of("uid must be in RFC 4122 normalized form,"
                            + " `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal"
                            + " characters");
        }

        private static String unreadable(String text) {
            return switch (Names.bytes(text)) {
                case LENGTH -> formProblem(HYPHENS, text);
                case LENGTH + 9 ->
                    text.regionMatches(true, 0, URN, 0, URN.length())
                            ? formProblem(HYPHENS, text.substring(URN.length()))
                            : "invalid urn prefix: " + QuotedText.of(text.substring(0, 9));
                case LENGTH + 2 ->
                    text.startsWith("{") && text.endsWith("}")
                            ? formProblem(HYPHENS, text.substring(1, text.length() - 1))
                            : "invalid bracketed UUID format";
                case LENGTH - 4 -> formProblem(NO_HYPHENS, text);
                default -> "invalid UUID length: " + Names.bytes(text);
            };
        }

        private static String formProblem(Pattern form, String text) {
            return form.matcher(text).matches() ? "" : "invalid UUID format";
        }
    }
}
