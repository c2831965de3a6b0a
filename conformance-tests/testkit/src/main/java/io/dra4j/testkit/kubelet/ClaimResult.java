// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one claim in a response of a driver.
 *
 * @param devices the prepared devices, in the order of the response
 * @param error empty if the driver reported none
 * @param wire the response's bytes as hexadecimal digits, to compare one response with another
 */
public record ClaimResult(List<PreparedDevice> devices, String error, String wire) {

    public ClaimResult {
        devices = List.copyOf(devices);
    }

    /**
     * One prepared device.
     *
     * @param requests the requests that it is for; none means all
     * @param shareId {@code null} if the driver gave none, as in v1beta1
     */
    public record PreparedDevice(
            List<String> requests,
            String pool,
            String device,
            List<String> cdiDeviceIds,
            @Nullable String shareId) {
        public PreparedDevice {
            requests = List.copyOf(requests);
            cdiDeviceIds = List.copyOf(cdiDeviceIds);
        }
    }
}
