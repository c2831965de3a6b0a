// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.util.List;
import java.util.Optional;

/**
 * Reads what a claim's object asks of this driver: its own results, with their configurations.
 *
 * <p>Pure. Results and configurations of other drivers are passed over unread.
 */
final class Allocations {

    private final String driver;
    private final List<ConfigType<?>> configTypes;

    Allocations(String driver, List<ConfigType<?>> configTypes) {
        this.driver = driver;
        this.configTypes = List.copyOf(configTypes);
    }

    /**
     * Returns this driver's results.
     *
     * @throws PrepareException if the object is of another claim, not allocated, or has none
     */
    List<Result> results(ClaimRef ref, ClaimObject object) {
        if (!object.uid().equals(ref.uid())) {
            throw new PrepareException(
                    "the claim was replaced by another of the same name (UID "
                            + object.uid()
                            + ")");
        }
        Allocation allocation = object.allocation();
        if (allocation == null) {
            throw new PrepareException("the claim is not allocated");
        }
        List<Result> own =
                allocation.results().stream()
                        .filter(result -> driver.equals(result.driver()))
                        .toList();
        if (own.isEmpty()) {
            throw new PrepareException("the claim was allocated no device of driver " + driver);
        }
        return own;
    }

    /**
     * Returns the claim as the provider sees it.
     *
     * @throws PrepareException if a device does not exist, or a configuration is not valid
     */
    AllocatedClaim read(ClaimRef ref, ClaimObject object, Inventory inventory) {
        List<Result> own = results(ref, object);
        Allocation allocation = object.allocation();
        ConfigChoice configs =
                new ConfigChoice(
                        driver, configTypes, allocation == null ? List.of() : allocation.configs());
        List<AllocatedDevice> devices =
                own.stream()
                        .map(
                                result ->
                                        allocated(
                                                result,
                                                object,
                                                configs,
                                                published(result, inventory)))
                        .toList();
        return new AllocatedClaim(ref, devices, object.json());
    }

    private static AllocatedDevice allocated(
            Result result, ClaimObject object, ConfigChoice configs, Optional<Device> device) {
        String main = mainRequest(result.request());
        return new AllocatedDevice(
                main,
                main.equals(result.request())
                        ? null
                        : result.request().substring(main.length() + 1),
                new PoolName(result.pool()),
                new DeviceName(result.device()),
                result.shareId(),
                result.consumedCapacity(),
                result.adminAccess(),
                object.deviceClasses().get(result.request()),
                configs.configsOf(result, device));
    }

    private Optional<Device> published(Result result, Inventory inventory) {
        Pool pool =
                inventory
                        .pool(new PoolName(result.pool()))
                        .orElseThrow(
                                () ->
                                        new PrepareException(
                                                "driver "
                                                        + driver
                                                        + " has no pool "
                                                        + result.pool()));
        if (pool.placement() instanceof Placement.PublishedElsewhere) {
            return Optional.empty();
        }
        Optional<Device> device = inventory.device(pool.name(), new DeviceName(result.device()));
        if (device.isEmpty()) {
            throw new PrepareException(
                    "pool " + result.pool() + " has no device " + result.device());
        }
        return device;
    }

    /** Returns the request of a result, without the subrequest that was chosen for it. */
    static String mainRequest(String request) {
        int slash = request.indexOf('/');
        return slash < 0 ? request : request.substring(0, slash);
    }
}
