// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One device, or share of a device, that a claim was allocated for one request.
 *
 * @param request the name of the request in the claim
 * @param subrequest the alternative that was chosen in a prioritized list; {@code null} if the
 *     request has no alternatives
 * @param pool the device's pool
 * @param device the device
 * @param shareId the id of a share of a device that allows multiple allocations (a UUID); otherwise
 *     {@code null}
 * @param consumedCapacity how much of the device's capacities this share has, by name; empty for a
 *     device that is allocated as a whole
 * @param adminAccess whether the device is for administration: it may be in use by other claims,
 *     and is not reserved by this one
 * @param deviceClass the DeviceClass that the request names; {@code null} if the claim names none
 * @param configs the configurations that apply to the device, at most one for each {@link
 *     ConfigType}
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.allocation.devices.results</a>
 */
public record AllocatedDevice(
        String request,
        @Nullable String subrequest,
        PoolName pool,
        DeviceName device,
        @Nullable String shareId,
        Map<String, Quantity> consumedCapacity,
        boolean adminAccess,
        @Nullable String deviceClass,
        List<AppliedConfig<?>> configs) {

    /** Copies the collections. */
    public AllocatedDevice {
        consumedCapacity = Map.copyOf(consumedCapacity);
        configs = List.copyOf(configs);
    }

    /**
     * Returns this device as one that the claim holds: what reports about it name it by.
     *
     * @return the device without what is known at its preparation alone
     */
    public HeldDevice held() {
        return new HeldDevice(
                request, subrequest, pool, device, shareId, consumedCapacity, adminAccess);
    }

    /**
     * Finds the configuration of one kind that applies to the device.
     *
     * @param type the kind
     * @param <T> the vendor's type
     * @return the configuration, or empty if none applies and the kind has no defaults
     */
    public <T> Optional<AppliedConfig<T>> config(ConfigType<T> type) {
        return configs.stream()
                .filter(config -> type.type().isInstance(config.value()))
                .map(
                        config ->
                                new AppliedConfig<>(
                                        type.type().cast(config.value()),
                                        config.source(),
                                        config.index(),
                                        config.requests()))
                .findFirst();
    }
}
