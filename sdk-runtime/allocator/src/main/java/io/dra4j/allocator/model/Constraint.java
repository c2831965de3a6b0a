// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A constraint of a claim on the devices that it gets together.
 *
 * @param requests the requests and subrequests that it applies to; all, if empty
 * @param attribute the full name of the attribute that is compared
 */
public record Constraint(List<String> requests, Kind kind, String attribute) {

    /** The comparisons of the API; one that a later release adds is unknown. */
    public enum Kind {
        MATCH("matchAttribute"),
        DISTINCT("distinctAttribute"),
        UNKNOWN("");

        private final String field;

        Kind(String field) {
            this.field = field;
        }

        /** The field of a constraint that has the attribute. */
        public String field() {
            return field;
        }
    }

    static Constraint of(JsonNode json) {
        Kind kind =
                json.has(Kind.MATCH.field) ? Kind.MATCH : json.has(Kind.DISTINCT.field) ? Kind.DISTINCT : Kind.UNKNOWN;
        return new Constraint(JsonFields.texts(json, "requests"), kind, JsonFields.shared(json, kind.field));
    }

    /** Returns whether it applies to the devices of a request's alternative. */
    public boolean appliesTo(DeviceRequest request, SubRequest alternative) {
        return requests.isEmpty()
                || requests.contains(request.name())
                || requests.contains(request.nameOf(alternative));
    }

    /** The form of the object's field. */
    @Override
    public String toString() {
        return kind.field + " " + attribute;
    }
}
