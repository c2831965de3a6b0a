// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.Names;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The strategy of Events, in the form of the core group; those of the newer group are checked more strictly. */
record EventStrategy(boolean strict) implements Strategy {
    private static final int LONGEST = 128;
    private static final int LONGEST_MESSAGE = 1024;
    private static final Set<String> MAY_BE_ANYWHERE = Set.of("default", "kube-system");
    private static final List<String> IMMUTABLE = List.of(
            "involvedObject",
            "reason",
            "message",
            "source",
            "firstTimestamp",
            "lastTimestamp",
            "count",
            "type",
            "eventTime",
            "action",
            "related");

    @Override
    public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
        if (next.hasNonNull("eventTime")) {
            checkNew(next, errors);
        } else {
            checkOld(next, errors);
        }
        if (strict && old == null) {
            checkCreation(next, errors);
        } else if (strict && old != null) {
            checkUpdate(next, old, errors);
        }
    }

    /** Events of the older form, without an {@code eventTime}. */
    private static void checkOld(ObjectNode event, FieldErrors errors) {
        String own = JsonTrees.text(event, "metadata", "namespace");
        String about = JsonTrees.text(event, "involvedObject", "namespace");
        if (!own.equals(about) && !(about.isEmpty() && own.equals("default"))) {
            errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
        }
    }

    private static void checkNew(ObjectNode event, FieldErrors errors) {
        String about = JsonTrees.text(event, "involvedObject", "namespace");
        if (about.isEmpty() && !MAY_BE_ANYWHERE.contains(JsonTrees.text(event, "metadata", "namespace"))) {
            errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
        }
        String controller = event.path("reportingComponent").asText();
        if (controller.isEmpty()) {
            errors.required("reportingController", "");
        }
        Names.qualifiedNameProblems(controller)
                .forEach(problem -> errors.invalid("reportingController", controller, problem));
        for (String field : List.of("reportingInstance", "action", "reason")) {
            if (event.path(field).asText().isEmpty()) {
                errors.required(field, "");
            }
            checkLength(event, field, LONGEST, errors);
        }
        checkLength(event, "message", LONGEST_MESSAGE, errors);
    }

    private static void checkLength(ObjectNode event, String field, int limit, FieldErrors errors) {
        if (event.path(field).asText().length() > limit) {
            errors.invalid(field, "", "can have at most " + limit + " characters");
        }
    }

    private static void checkCreation(ObjectNode event, FieldErrors errors) {
        checkSeries(event, errors);
        if (!event.hasNonNull("eventTime")) {
            errors.required("eventTime", "");
        }
        String type = event.path("type").asText();
        if (!type.equals("Normal") && !type.equals("Warning")) {
            errors.invalid("type", "", "has invalid value: " + type);
        }
        for (String field : List.of("firstTimestamp", "lastTimestamp", "count", "source")) {
            JsonNode value = event.path(field);
            boolean set = value.isObject() ? !value.isEmpty() : event.hasNonNull(field);
            if (set && value.asInt(1) != 0) {
                errors.invalid(field, "", "needs to be unset");
            }
        }
    }

    private static void checkSeries(ObjectNode event, FieldErrors errors) {
        JsonNode series = event.path("series");
        if (series.isObject() && series.path("count").asInt() < 2) {
            errors.invalid("series.count", "", "should be at least 2");
        }
        if (series.isObject() && !series.hasNonNull("lastObservedTime")) {
            errors.required("series.lastObservedTime", "");
        }
    }

    private static void checkUpdate(ObjectNode event, ObjectNode old, FieldErrors errors) {
        if (!event.path("series").equals(old.path("series"))) {
            checkSeries(event, errors);
        }
        IMMUTABLE.forEach(field -> checkSame(event, old, field, field, errors));
        checkSame(event, old, "reportingComponent", "reportingController", errors);
        checkSame(event, old, "reportingInstance", "reportingInstance", errors);
    }

    private static void checkSame(ObjectNode event, ObjectNode old, String field, String name, FieldErrors errors) {
        JsonNode value = event.path(field);
        if (!value.equals(old.path(field))) {
            errors.invalid(name, value.isTextual() ? value.asText() : value, "field is immutable");
        }
    }
}
