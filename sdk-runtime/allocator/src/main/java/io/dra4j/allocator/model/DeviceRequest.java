// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A request of a claim.
 *
 * @param prioritized whether it lists subrequests, of which the first that fits is allocated
 * @param alternatives these subrequests, or the only one of an exact request
 */
public record DeviceRequest(String name, boolean prioritized, List<SubRequest> alternatives) {

    static DeviceRequest of(JsonNode json) {
        String name = JsonFields.shared(json, "name");
        return JsonFields.at("request " + name, () -> of(name, json));
    }

    /** In v1beta1 the fields of {@code exactly} are those of the request. */
    private static DeviceRequest of(String name, JsonNode json) {
        if (!json.path("firstAvailable").isEmpty()) {
            List<SubRequest> all =
                    JsonFields.list(json, "firstAvailable", one -> SubRequest.of(JsonFields.shared(one, "name"), one));
            return new DeviceRequest(name, true, all);
        }
        JsonNode exactly = json.path("exactly").isObject() ? json.path("exactly") : json;
        return new DeviceRequest(name, false, List.of(SubRequest.of(name, exactly)));
    }

    /** Returns the name that results and constraints use for an alternative. */
    public String nameOf(SubRequest alternative) {
        return prioritized ? name + "/" + alternative.name() : name;
    }
}
