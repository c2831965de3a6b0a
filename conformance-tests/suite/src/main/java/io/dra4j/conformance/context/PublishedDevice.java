// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.claims.Allotment;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.cluster.ApiObjects;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A device in a slice of the driver under test.
 *
 * @param json everything that is published about it
 * @param allotment everything that a claim with this device gets; null where claims have no particular shape
 */
public record PublishedDevice(
        String pool, String name, JsonNode json, @Nullable Allotment allotment) {

    private static final Pattern WHOLE = Pattern.compile("(\\d{1,15})(\\D*)");
    private static final long PART = 4;

    /** A device of a slice that a claim can get on its own. */
    public PublishedDevice(String pool, JsonNode json) {
        this(pool, json.path("name").asText(), json);
    }

    public PublishedDevice(String pool, String name, JsonNode json) {
        this(pool, name, json, null);
    }

    /** Returns whether several claims may have it at the same time, each with a share id. */
    public boolean isShared() {
        return allotment == null ? json.path("allowMultipleAllocations").asBoolean() : allotment.isShared();
    }

    /** The pools and names of all devices that a claim with this one gets. */
    public List<String> withCompanions() {
        return allotment == null ? List.of(toString()) : allotment.devices();
    }

    PublishedDevice of(Allotment one) {
        return new PublishedDevice(pool, name, json, one);
    }

    /** A device that the driver does not publish, and that is like this one except for its pool and name. */
    public PublishedDevice absent(String otherPool, String otherName) {
        return new PublishedDevice(otherPool, otherName, ((ObjectNode) json.deepCopy()).without(List.of("name")));
    }

    boolean isAbsent() {
        return !json.has("name");
    }

    /** The capacity that a claim takes: that of the settings' claims, or else the minimum, to leave some for others. */
    ObjectNode consumed() {
        if (allotment != null && allotment.results().get(0).get("consumedCapacity") instanceof ObjectNode shape) {
            return shape.deepCopy();
        }
        ObjectNode consumed = JsonNodeFactory.instance.objectNode();
        json.path("capacity").properties().forEach(one -> consumed.put(one.getKey(), least(one.getValue())));
        return consumed;
    }

    /** The minimum of the policy; without one, a part, because a claim without a request would take everything. */
    private static String least(JsonNode capacity) {
        return Stream.of("/requestPolicy/validRange/min", "/requestPolicy/validValues/0", "/requestPolicy/default")
                .map(capacity::at)
                .filter(amount -> !amount.isMissingNode())
                .map(JsonNode::asText)
                .findFirst()
                .orElseGet(() -> part(capacity.path("value").asText()));
    }

    private static String part(String value) {
        Matcher whole = WHOLE.matcher(value);
        long number = whole.matches() ? Long.parseLong(whole.group(1)) : 0;
        if (number > 1) {
            return Math.max(1, number / PART) + whole.group(2);
        }
        long exact = Quantities.exact(value).longValue();
        return exact < PART ? value : Long.toString(exact / PART);
    }

    /** Returns whether this number of claims can have it at the same time. */
    public boolean hasRoomFor(int claims) {
        JsonNode capacity = json.path("capacity");
        return isShared()
                && consumed().properties().stream()
                        .allMatch(one -> Quantities.exact(one.getValue().asText())
                                        .multiply(BigDecimal.valueOf(claims))
                                        .compareTo(Quantities.exact(capacity.path(one.getKey())
                                                .path("value")
                                                .asText()))
                                <= 0);
    }

    /** Returns whether a scheduler would not give it to a claim without tolerations. */
    public boolean isTainted() {
        return ApiObjects.elements(json.path("taints")).stream()
                .anyMatch(taint -> !taint.path("effect").asText().equals("None"));
    }

    public boolean isBound() {
        return !json.path("bindingConditions").isEmpty();
    }

    /** Its consumption of each counter, by the set and the name. */
    public Map<String, BigDecimal> counters() {
        Map<String, BigDecimal> taken = new LinkedHashMap<>();
        for (JsonNode set : json.path("consumesCounters")) {
            counters(set.path("counterSet").asText(), set)
                    .forEach((counter, amount) -> taken.merge(counter, amount, BigDecimal::add));
        }
        return taken;
    }

    /** The amounts of a counter set, or of a device's part of it, by the set and the name. */
    public static Map<String, BigDecimal> counters(String set, JsonNode json) {
        Map<String, BigDecimal> amounts = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> one : json.path("counters").properties()) {
            amounts.put(
                    set + "/" + one.getKey(),
                    Quantities.exact(one.getValue().path("value").asText()));
        }
        return amounts;
    }

    @Override
    public String toString() {
        return pool + "/" + name;
    }
}
