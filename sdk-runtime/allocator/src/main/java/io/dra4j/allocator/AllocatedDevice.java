// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Toleration;
import java.util.List;
import java.util.Map;

/**
 * A device that a claim gets.
 *
 * @param request its name, with the subrequest's behind a slash
 * @param shared whether it is a share, which a scheduler gives an id
 * @param consumedCapacity what the share takes
 */
public record AllocatedDevice(
        String request,
        DeviceId device,
        boolean adminAccess,
        boolean shared,
        Map<String, Quantity> consumedCapacity,
        List<Toleration> tolerations,
        List<String> bindingConditions,
        List<String> bindingFailureConditions) {}
