// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.allocator.model.Toleration;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.OwnNames;
import java.util.List;
import java.util.Map;

/**
 * A device that a claim gets.
 *
 * @param request its name, followed by a slash and the subrequest's name if there is one
 * @param shared whether it is a share, to which a scheduler assigns an id
 */
public record AllocatedDevice(
        String request,
        DeviceId device,
        boolean adminAccess,
        boolean shared,
        Map<String, Quantity> consumedCapacity,
        List<Toleration> tolerations,
        List<String> bindingConditions,
        List<String> bindingFailureConditions) {

    /**
     * Returns a device that was chosen without a search, as a claim gets it. Selectors, taints and other claims are
     * ignored.
     *
     * @param request the name of a request of the claim, followed by a slash and the subrequest's name if there is one
     * @throws IllegalArgumentException if the claim does not have the request
     */
    public static AllocatedDevice chosen(FeatureGates gates, Claim claim, String request, DeviceId id, Device device) {
        for (DeviceRequest one : claim.requests()) {
            for (SubRequest asked : one.alternatives()) {
                if (one.nameOf(asked).equals(request)) {
                    return chosen(gates, request, asked, id, device);
                }
            }
        }
        throw new IllegalArgumentException("Claim %s has no request %s".formatted(claim.fullName(), request));
    }

    private static AllocatedDevice chosen(
            FeatureGates gates, String request, SubRequest asked, DeviceId id, Device device) {
        boolean shared = device.sharing() && gates.enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY);
        Amounts amounts = new Amounts(gates.enabled(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE));
        OwnNames names = Behaviour.names(SchedulerBug.of(gates.version()), id.driver());
        return new AllocatedDevice(
                request,
                id,
                asked.adminAccess(),
                shared,
                shared ? amounts.consumed(names, asked.capacity(), device.capacity()) : Map.of(),
                asked.tolerations(),
                device.bindingConditions(),
                device.bindingFailureConditions());
    }
}
