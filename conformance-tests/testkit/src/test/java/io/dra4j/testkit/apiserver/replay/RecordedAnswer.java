// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.testkit.apiserver.model.Json;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The answer to a request: its code, its media type, and one document, or the events of a watch.
 */
record RecordedAnswer(int code, String contentType, List<JsonNode> documents) {

    /** The words for values that are others each time, by the field that has them. */
    private static final Map<String, String> RANDOM_FIELDS =
            Map.of("resourceVersion", "RV", "uid", "UID", "continue", "CONT");

    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** Uids that the recording wrote down in part. */
    private static final Pattern CHOSEN_UID = Pattern.compile("00000000-0000-0000-0000-N");

    private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z");
    private static final Pattern AGE = Pattern.compile("\\d+s");
    private static final Pattern GENERATED = Pattern.compile("gen-[a-z0-9]{5}");
    private static final Pattern REVISION = Pattern.compile("(current: |in record \\()\\d+");
    private static final Pattern LONG_NUMBER = Pattern.compile("\\d{9,}");

    /** An object in a message: its fields are written in Go's order. */
    private static final Pattern QUOTED_OBJECT = Pattern.compile("Invalid value: (\"?\\{.*}\"?): ", Pattern.DOTALL);

    static RecordedAnswer read(int code, String contentType, String body) {
        List<JsonNode> documents = List.of(TextNode.valueOf(body));
        if (contentType.startsWith("application/json")) {
            documents =
                    body.lines().filter(one -> !one.isBlank()).map(Json::parse).toList();
        }
        return new RecordedAnswer(code, contentType, documents);
    }

    /** Says where another answer differs from this one, apart from what is random. */
    List<String> differences(RecordedAnswer other) {
        List<String> found = new ArrayList<>();
        if (code != other.code) {
            return List.of("code %d instead of %d: %s".formatted(other.code, code, other.documents));
        }
        if (!mediaType().equals(other.mediaType())) {
            return List.of("type %s instead of %s".formatted(other.contentType, contentType));
        }
        compare("", array(), other.array(), found);
        if (isYaml()) { // It was recorded in part.
            found.removeIf(one -> one.endsWith(" instead of nothing"));
        }
        return found;
    }

    private String mediaType() {
        return contentType.split(";")[0].strip();
    }

    private boolean isYaml() {
        return mediaType().endsWith("yaml");
    }

    private JsonNode array() {
        ArrayNode array = Json.MAPPER.createArrayNode();
        documents.forEach(one -> array.add(fixed("", isYaml() ? yaml(one) : one)));
        return array;
    }

    private static JsonNode yaml(JsonNode text) {
        try {
            return Json.YAML.readTree(text.asText());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A copy without what is random. */
    private static JsonNode fixed(String field, JsonNode value) {
        if (value instanceof ObjectNode object) {
            ObjectNode copy = Json.object();
            object.properties().forEach(one -> copy.set(one.getKey(), fixed(one.getKey(), one.getValue())));
            return copy;
        }
        if (value instanceof ArrayNode array) {
            ArrayNode copy = Json.MAPPER.createArrayNode();
            array.forEach(one -> copy.add(fixed(field, one)));
            return copy;
        }
        return value.isTextual() ? TextNode.valueOf(fixedText(field, value.asText())) : value;
    }

    private static String fixedText(String field, String text) {
        if (RANDOM_FIELDS.containsKey(field) && !text.isEmpty()) {
            return RANDOM_FIELDS.get(field);
        }
        if (TIME.matcher(text).matches()) {
            return "T";
        }
        if (field.equals("cells") && AGE.matcher(text).matches()) {
            return "AGE";
        }
        String fixed = GENERATED.matcher(text).replaceAll("gen-XXXXX");
        fixed = QUOTED_OBJECT.matcher(fixed).replaceAll("Invalid value: OBJECT: ");
        fixed = CHOSEN_UID.matcher(UID.matcher(fixed).replaceAll("UID")).replaceAll("UID");
        fixed = REVISION.matcher(fixed).replaceAll("$1RV");
        return LONG_NUMBER.matcher(fixed).replaceAll("N");
    }

    private static void compare(String path, JsonNode wanted, JsonNode found, List<String> differences) {
        if (wanted.isObject() && found.isObject()) {
            Set<String> names = new TreeSet<>(Json.names(wanted));
            names.addAll(Json.names(found));
            names.forEach(name -> compare(path + "." + name, wanted.path(name), found.path(name), differences));
        } else if (wanted.isArray() && found.isArray() && wanted.size() == found.size()) {
            for (int i = 0; i < wanted.size(); i++) {
                compare(path + "[" + i + "]", wanted.get(i), found.get(i), differences);
            }
        } else if (!wanted.equals(found)) {
            differences.add("%s: %s instead of %s".formatted(path, shown(found), shown(wanted)));
        }
    }

    private static String shown(JsonNode value) {
        return value.isMissingNode() ? "nothing" : value.toString();
    }
}
