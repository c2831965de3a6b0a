// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Content of several parts, such as files or devices, as facts: names like {@code devices gpu-0 env GPU}, and their
 * values. The order of objects and lists makes no difference.
 */
public record Content(Map<String, Map<String, Set<String>>> parts) {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    /** The fields that identify an element of a list. */
    private static final List<String> NAMES = List.of("containerPath", "path", "name", "key", "counterSet");

    public static Content of(Map<String, ? extends JsonNode> parts) {
        Map<String, Map<String, Set<String>>> facts = new TreeMap<>();
        parts.forEach((part, json) -> add("", json, facts.computeIfAbsent(part, name -> new TreeMap<>())));
        return new Content(facts);
    }

    private static void add(String name, JsonNode json, Map<String, Set<String>> facts) {
        if (json.isObject()) {
            json.properties().forEach(field -> add(name + " " + field.getKey(), field.getValue(), facts));
        } else if (json.isArray()) {
            json.forEach(element -> addElement(name, element, facts));
        } else if (!json.isMissingNode()) {
            facts.computeIfAbsent(name.strip(), key -> new TreeSet<>()).add(json.asText());
        }
    }

    private static void addElement(String name, JsonNode element, Map<String, Set<String>> facts) {
        Optional<String> id = NAMES.stream()
                .map(element::path)
                .filter(JsonNode::isTextual)
                .map(JsonNode::asText)
                .findFirst();
        if (id.isPresent() && !name.endsWith(" hooks")) {
            add(name + " " + id.get(), element, facts);
        } else {
            String text = text(element);
            int end = name.endsWith(" env") ? text.indexOf('=') : -1;
            String variable = end < 0 ? "" : " " + text.substring(0, end);
            facts.computeIfAbsent((name + variable).strip(), key -> new TreeSet<>())
                    .add(text.substring(end + 1));
        }
    }

    /** Text that does not depend on the order of an object's fields. */
    static String text(JsonNode json) {
        try {
            return json.isValueNode() ? json.asText() : JSON.writeValueAsString(JSON.convertValue(json, Object.class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Describes what is new, gone or different since then, a clause each; empty if nothing is. */
    public List<String> differences(Content before) {
        return differences(before, text -> true);
    }

    /** Describes the same of those parts of which the names and facts, as text, pass a test. */
    List<String> differences(Content before, Predicate<String> test) {
        List<String> all = new ArrayList<>();
        for (String part : union(before.parts, parts)) {
            Map<String, Set<String>> was = before.parts.get(part);
            Map<String, Set<String>> is = parts.get(part);
            if (!test.test(part + was + is)) {
                continue;
            }
            if (was == null || is == null) {
                all.add(part + (was == null ? " is new" : " is gone"));
            } else {
                union(was, is).stream()
                        .map(name -> difference(
                                part + " " + name, was.getOrDefault(name, Set.of()), is.getOrDefault(name, Set.of())))
                        .filter(words -> !words.isEmpty())
                        .forEach(words -> all.add(words.replace(" containerEdits", "")));
            }
        }
        return all;
    }

    private static Set<String> union(Map<String, ?> one, Map<String, ?> other) {
        Set<String> names = new TreeSet<>(one.keySet());
        names.addAll(other.keySet());
        return names;
    }

    private static String difference(String name, Set<String> was, Set<String> is) {
        if (was.equals(is)) {
            return "";
        }
        String now = name.strip() + " is " + (is.isEmpty() ? "gone" : String.join(", ", is));
        return was.isEmpty() ? now : now + " where it was " + String.join(", ", was);
    }
}
