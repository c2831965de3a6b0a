// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.DeviceStatusRules;
import io.dra4j.rules.Field;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.runtime.internal.validate.Shown;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device's status without the parts that the API server would refuse: one wrong entry would make it refuse those of
 * the claim's other devices.
 *
 * <p>The parts are each condition, the data, and the network data. Two different conditions of one type are both left
 * out, and if there are too many conditions, all are.
 *
 * @param sent the status that the server accepts
 * @param leftOut fields and why the server refuses them, each on one line; the first 20
 */
record CheckedStatus(ObjectNode sent, List<String> leftOut) {

    private static final String CONDITIONS = "conditions";
    private static final int MOST_SHOWN = 20;

    /** A field of the status, and the index of the item in it. */
    private static final Pattern PART = Pattern.compile("\\.(\\w+)(?:\\[(\\d+)])?.*");

    CheckedStatus {
        leftOut = List.copyOf(leftOut);
    }

    /**
     * Checks a status against the rule book.
     *
     * @param device the device's name, for messages
     * @param status the status in its canonical form; it is not changed
     */
    static CheckedStatus of(String device, ObjectNode status) {
        String root = "status.devices[" + device + "]";
        FieldErrors errors = new FieldErrors();
        DeviceStatusRules.checkReport(new Field(status, root, errors));
        ObjectNode sent = status.deepCopy();
        Set<JsonNode> wrongTypes = new HashSet<>();
        for (FieldError error : errors.all()) {
            Matcher part = PART.matcher(error.field().substring(root.length()));
            if (!part.matches()) {
                sent.removeAll();
            } else if (part.group(1).equals(CONDITIONS) && part.group(2) != null) {
                int index = Integer.parseInt(part.group(2));
                wrongTypes.add(status.path(CONDITIONS).path(index).path("type"));
            } else {
                sent.remove(part.group(1));
            }
        }
        removeConditions(sent, wrongTypes);
        List<String> leftOut = errors.all().stream()
                .limit(MOST_SHOWN)
                .map(error -> Shown.message(error.toString()))
                .toList();
        return new CheckedStatus(sent, leftOut);
    }

    private static void removeConditions(ObjectNode sent, Set<JsonNode> types) {
        sent.withArray(CONDITIONS).removeIf(condition -> types.contains(condition.path("type")));
        if (sent.path(CONDITIONS).isEmpty()) {
            sent.remove(CONDITIONS);
        }
    }

    boolean hasCondition(String type) {
        return sent.path(CONDITIONS)
                .valueStream()
                .anyMatch(condition -> condition.path("type").asText().equals(type));
    }
}
