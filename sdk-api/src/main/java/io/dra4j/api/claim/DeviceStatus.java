// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A driver's report about an allocated device in the claim's status.
 *
 * @param conditions conditions with types that are unique, at most 8
 * @param data a JSON object as text, at most 10 KiB; {@code null} for none
 * @param networkData the interface and addresses of a network device; {@code null} for other
 *     devices
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4817-resource-claim-device-status">
 *     KEP-4817</a>
 */
public record DeviceStatus(
        List<Condition> conditions, @Nullable String data, @Nullable NetworkData networkData) {

    /** Copies the list. */
    public DeviceStatus {
        conditions = List.copyOf(conditions);
    }

    /**
     * Returns a status of conditions alone.
     *
     * @param conditions the conditions
     * @return the status
     */
    public static DeviceStatus of(Condition... conditions) {
        return new DeviceStatus(List.of(conditions), null, null);
    }

    /**
     * One aspect of the device's state; the runtime keeps the time of its last change.
     *
     * @param type the aspect: a label name, such as {@code Ready}
     * @param status whether it holds
     * @param reason why, as one word in CamelCase
     * @param message why, for people, at most 32 KiB; may be empty
     */
    public record Condition(String type, Truth status, String reason, String message) {}

    /** The status of a condition. */
    public enum Truth {
        /** It holds. */
        TRUE("True"),
        /** It does not hold. */
        FALSE("False"),
        /** It is unknown. */
        UNKNOWN("Unknown");

        private final String apiName;

        Truth(String apiName) {
            this.apiName = apiName;
        }

        /**
         * Returns the value's name in the Kubernetes API.
         *
         * @return the name, for instance {@code True}
         */
        public String apiName() {
            return apiName;
        }
    }

    /**
     * The interface and addresses of a network device.
     *
     * @param interfaceName the interface's name in the pod, at most 256 bytes, or {@code null}
     * @param ips its addresses with prefix lengths, such as {@code 10.0.0.5/24}, at most 16
     * @param hardwareAddress its hardware address, at most 128 bytes, or {@code null}
     */
    public record NetworkData(
            @Nullable String interfaceName, List<String> ips, @Nullable String hardwareAddress) {

        /** Copies the list. */
        public NetworkData {
            ips = List.copyOf(ips);
        }
    }
}
