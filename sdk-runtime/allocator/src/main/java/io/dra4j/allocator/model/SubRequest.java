// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * One of the alternatives of a request.
 *
 * @param name the name of the subrequest, or of the request if it has no alternatives
 * @param selectors expressions in CEL; empty for a selector of another kind
 * @param mode the allocation mode, {@code ExactCount} or {@code All}
 * @param capacity the amounts that a device has to have left
 */
public record SubRequest(
        String name,
        String deviceClass,
        List<String> selectors,
        String mode,
        long count,
        boolean adminAccess,
        List<Toleration> tolerations,
        Map<String, Quantity> capacity) {
    public static final String EXACT_COUNT = "ExactCount";

    public static final String ALL = "All";

    static SubRequest of(String name, JsonNode json) {
        String mode = JsonFields.shared(json, "allocationMode");
        return new SubRequest(
                name,
                JsonFields.shared(json, "deviceClassName"),
                DeviceClass.expressions(json),
                mode.isEmpty() ? EXACT_COUNT : mode,
                json.path("count").asLong(1),
                json.path("adminAccess").asBoolean(),
                JsonFields.list(json, "tolerations", Toleration::of),
                JsonFields.map(json.path("capacity"), "requests", Quantity::of));
    }

    public SubRequest withCount(long devices) {
        return new SubRequest(name, deviceClass, selectors, mode, devices, adminAccess, tolerations, capacity);
    }

    public SubRequest with(List<String> selectors, List<Toleration> tolerations, Map<String, Quantity> capacity) {
        return new SubRequest(name, deviceClass, selectors, mode, count, adminAccess, tolerations, capacity);
    }
}
