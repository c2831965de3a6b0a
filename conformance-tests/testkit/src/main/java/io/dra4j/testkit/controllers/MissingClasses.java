// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds requests whose DeviceClass is not there, on which a scheduler gives up at once. */
final class MissingClasses {

    private MissingClasses() {}

    /** Returns the scheduler's words about the first of them. */
    static Optional<String> first(List<Claim> claims, ClusterObjects objects) {
        return claims.stream()
                .flatMap(claim -> classes(claim).entrySet().stream())
                .filter(one -> objects.find("deviceclasses", "", one.getValue()).isEmpty())
                .map(one -> "request %s: device class %s does not exist".formatted(one.getKey(), one.getValue()))
                .findFirst();
    }

    /** The classes by request, or by request and alternative. */
    private static Map<String, String> classes(Claim claim) {
        Map<String, String> classes = new LinkedHashMap<>();
        for (JsonNode request : claim.json().at("/spec/devices/requests")) {
            String name = request.path("name").asText();
            if (request.has("exactly")) {
                classes.put(name, deviceClass(request.path("exactly")));
            }
            for (JsonNode alternative : request.path("firstAvailable")) {
                String own = name + "/" + alternative.path("name").asText();
                classes.put(own, deviceClass(alternative));
            }
        }
        return classes;
    }

    private static String deviceClass(JsonNode asked) {
        return asked.path("deviceClassName").asText();
    }
}
