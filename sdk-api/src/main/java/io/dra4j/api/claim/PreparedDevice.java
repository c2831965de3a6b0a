// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.container.ContainerEdits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of preparing one allocated device.
 *
 * @param allocated the device, as it was requested
 * @param edits what a container that uses the device receives
 * @param cdiDeviceIds ids of CDI devices that exist already, in specs that the driver keeps by
 *     itself, as {@code vendor/class=name}
 * @param status what the claim's status shall report of the device, or {@code null}; one that
 *     breaks a rule of the API is logged and left out
 * @param metadata what containers shall read about the device, or {@code null}
 */
public record PreparedDevice(
        AllocatedDevice allocated,
        ContainerEdits edits,
        List<String> cdiDeviceIds,
        @Nullable DeviceStatus status,
        @Nullable DeviceMetadata metadata) {

    /** Copies the list. */
    public PreparedDevice {
        cdiDeviceIds = List.copyOf(cdiDeviceIds);
    }

    /**
     * Returns a device that was prepared by container edits alone.
     *
     * @param allocated the device, as it was requested
     * @param edits what a container that uses the device receives
     * @return the prepared device
     */
    public static PreparedDevice of(AllocatedDevice allocated, ContainerEdits edits) {
        return new PreparedDevice(allocated, edits, List.of(), null, null);
    }

    /**
     * Adds the ids of CDI devices that exist already.
     *
     * @param ids the ids
     * @return a copy of this device
     */
    public PreparedDevice withCdiDeviceIds(List<String> ids) {
        return new PreparedDevice(allocated, edits, ids, status, metadata);
    }

    /**
     * Sets what the claim's status reports.
     *
     * @param report the report
     * @return a copy of this device
     */
    public PreparedDevice withStatus(DeviceStatus report) {
        return new PreparedDevice(allocated, edits, cdiDeviceIds, report, metadata);
    }

    /**
     * Sets what containers read about the device.
     *
     * @param readable the metadata
     * @return a copy of this device
     */
    public PreparedDevice withMetadata(DeviceMetadata readable) {
        return new PreparedDevice(allocated, edits, cdiDeviceIds, status, readable);
    }
}
