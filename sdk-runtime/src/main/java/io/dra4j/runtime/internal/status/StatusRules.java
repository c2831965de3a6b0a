// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.error.DraException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The API's rules for {@code status.devices}: one entry that breaks a rule would have the server
 * refuse those of the claim's other devices, too.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.devices</a>
 */
final class StatusRules {

    private static final int MOST_CONDITIONS = 8;
    private static final int LONGEST_REASON = 1024;
    private static final int LONGEST_MESSAGE = 32_768;
    private static final int LONGEST_DATA = 10_240;
    private static final int LONGEST_INTERFACE = 256;
    private static final int LONGEST_ADDRESS = 128;
    private static final int MOST_IPS = 16;
    private static final Pattern LABEL_NAME =
            Pattern.compile(
                    "((?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                            + "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final Pattern REASON = Pattern.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");
    private static final Pattern INTERFACE_ADDRESS =
            // Only numbers and literals, so that no name server is asked.
            Pattern.compile(
                    "((?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})(?:\\.(?!/)|(?=/))){4}"
                            + "|[0-9a-f:]*:[0-9a-f:]*)/(0|[1-9][0-9]{0,2})");

    private StatusRules() {}

    /**
     * Checks a status.
     *
     * @throws DraException that names field and limit
     */
    static void check(DeviceStatus status) {
        require(status.conditions().size() <= MOST_CONDITIONS, "more than 8 conditions");
        Set<String> types = new HashSet<>();
        for (Condition condition : status.conditions()) {
            check(condition);
            require(types.add(condition.type()), "two conditions of type " + condition.type());
        }
        checkData(status.data());
        if (status.networkData() != null) {
            checkNetwork(status.networkData());
        }
    }

    static void check(Condition condition) {
        require(
                LABEL_NAME.matcher(condition.type()).matches(),
                "a condition type that is no label name: " + condition.type());
        require(
                condition.reason().length() <= LONGEST_REASON
                        && REASON.matcher(condition.reason()).matches(),
                "a reason that is not one word in CamelCase: " + condition.reason());
        require(bytes(condition.message()) <= LONGEST_MESSAGE, "a message of more than 32 KiB");
    }

    private static void checkData(@Nullable String data) {
        if (data == null) {
            return;
        }
        require(bytes(data) <= LONGEST_DATA, "data of more than 10 KiB");
        try {
            JsonNode json = ReportJson.data(data);
            require(json.isObject() && !json.isEmpty(), "data that is no JSON object with a field");
        } catch (IllegalArgumentException e) {
            throw new DraException(
                    "A device's status has data that can't be read: it is no JSON", e);
        }
    }

    private static void checkNetwork(NetworkData network) {
        require(
                bytes(network.interfaceName()) <= LONGEST_INTERFACE,
                "an interface name of > 256 bytes");
        require(
                bytes(network.hardwareAddress()) <= LONGEST_ADDRESS,
                "a hardware address of > 128 bytes");
        require(network.ips().size() <= MOST_IPS, "more than 16 addresses");
        Set<String> seen = new HashSet<>();
        for (String ip : network.ips()) {
            require(
                    isCanonical(ip),
                    "an address not in canonical form, such as 10.0.0.5/24: " + ip);
            require(seen.add(ip), "an address twice: " + ip);
        }
    }

    private static boolean isCanonical(String address) {
        Matcher parts = INTERFACE_ADDRESS.matcher(address);
        if (!parts.matches()) {
            return false;
        }
        try {
            byte[] bytes = InetAddress.getByName(parts.group(1)).getAddress(); // asks no DNS
            return Integer.parseInt(parts.group(2)) <= bytes.length * Byte.SIZE
                    && CanonicalIp.of(bytes).equals(parts.group(1));
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static int bytes(@Nullable String text) {
        return text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static void require(boolean holds, String problem) {
        if (!holds) {
            throw new DraException("The API does not take a device's status with " + problem);
        }
    }
}
