// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A {@code ResourceClaim}.
 *
 * @param devices the devices that it has according to its status; none if it is not allocated
 */
public record Claim(
        String namespace,
        String name,
        List<DeviceRequest> requests,
        List<Constraint> constraints,
        List<HeldDevice> devices) {

    /**
     * Reads a {@code ResourceClaim} of any version of the API.
     *
     * @throws InvalidObjectException if a quantity is malformed
     */
    public static Claim of(JsonNode json) {
        JsonNode metadata = json.path("metadata");
        String namespace = JsonFields.shared(metadata, "namespace");
        String name = JsonFields.text(metadata, "name");
        return JsonFields.at("ResourceClaim " + fullName(namespace, name), () -> of(namespace, name, json));
    }

    private static Claim of(String namespace, String name, JsonNode json) {
        JsonNode spec = json.path("spec").path("devices");
        return new Claim(
                namespace,
                name,
                JsonFields.list(spec, "requests", DeviceRequest::of),
                JsonFields.list(spec, "constraints", Constraint::of),
                JsonFields.list(json.at("/status/allocation/devices"), "results", HeldDevice::of));
    }

    /** Returns the form that Kubernetes' messages have. */
    public String fullName() {
        return fullName(namespace, name);
    }

    private static String fullName(String namespace, String name) {
        return namespace.isEmpty() ? name : namespace + "/" + name;
    }
}
