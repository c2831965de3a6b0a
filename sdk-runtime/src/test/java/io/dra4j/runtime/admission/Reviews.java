// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.params.provider.Arguments;

/** The admission reviews of a table among the resources, as an API server sends them. */
public final class Reviews {

    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/runtime/admission");
    private static final YAMLMapper YAML = new YAMLMapper();
    private static final Map<String, Row> ROWS = rows();

    private Reviews() {}

    /** Returns the reviews of claims and templates, each with the message if it is refused, or null. */
    static List<Arguments> answers() {
        return ROWS.entrySet().stream()
                .filter(row -> !row.getValue().kind().equals("Pod"))
                .map(row -> Arguments.of(
                        row.getKey(), row.getValue().fields.path("message").asText(null)))
                .toList();
    }

    public static String text(String name) {
        return ROWS.get(name).review().toPrettyString();
    }

    public static List<String> names() {
        return List.copyOf(ROWS.keySet());
    }

    private static Map<String, Row> rows() {
        Map<String, Row> rows = new LinkedHashMap<>();
        for (JsonNode row : tree(read("reviews.yaml"))) {
            String name = row.path("name").asText();
            row.path("versions").forEach(it -> rows.put(name + "-" + it.asText(), new Row(row, it.asText())));
            if (!row.has("versions")) {
                rows.put(name, new Row(row, "v1"));
            }
        }
        return rows;
    }

    private static String read(String file) {
        try {
            return Files.readString(FOLDER.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonNode tree(String text) {
        try {
            return YAML.readTree(text);
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    private record Row(JsonNode fields, String version) {

        private static final JsonNode ONE_REQUEST = tree("{lanes: false}");

        String kind() {
            return fields.path("kind").asText("ResourceClaim");
        }

        JsonNode review() {
            String group = kind().equals("Pod") ? "" : "resource.k8s.io";
            JsonNode review = tree(read("review.json")
                    .replace("GROUP/VERSION", group.isEmpty() ? version : group + "/" + version)
                    .replace("GROUP", group)
                    .replace("VERSION", version)
                    .replace("KIND", kind())
                    .replace("RESOURCE", kind().toLowerCase(Locale.ROOT) + "s"));
            ObjectNode request = review.withObject("/request");
            JsonNode before = object(request.path("object"), "old");
            request.set("object", object(request.path("object"), kind().equals("Pod") ? "pod" : "configs"));
            request.set("oldObject", before);
            if (fields.has("operation")) {
                request.set("operation", fields.path("operation"));
            }
            if (fields.has("generateName")) {
                ObjectNode metadata = request.put("name", "").withObject("/object/metadata");
                metadata.remove("name");
                metadata.set("generateName", fields.path("generateName"));
            }
            if (fields.has("finalizers")) {
                request.withObject("/oldObject/metadata").set("finalizers", fields.path("finalizers"));
            }
            return review;
        }

        private JsonNode object(JsonNode empty, String field) {
            JsonNode part = fields.path(field);
            ObjectNode object = empty.deepCopy();
            if (part.isMissingNode()) {
                return NullNode.instance;
            } else if (part.isObject()) {
                return object.set("spec", part);
            }
            ObjectNode devices =
                    object.withObject(kind().endsWith("Template") ? "/spec/spec/devices" : "/spec/devices");
            JsonNode requests = fields.has("adminAccess") ? fields.path("adminAccess") : ONE_REQUEST;
            for (Map.Entry<String, JsonNode> request : requests.properties()) {
                addRequest(devices, request.getKey(), request.getValue().asBoolean());
            }
            part.forEach(config -> addConfig(devices, config.deepCopy()));
            return object;
        }

        private void addRequest(ObjectNode devices, String name, boolean adminAccess) {
            ObjectNode request = devices.withArray("requests").addObject().put("name", name);
            ObjectNode exactly = version.equals("v1beta1") ? request : request.putObject("exactly");
            exactly.put("deviceClassName", LaneConfigs.DRIVER)
                    .put("allocationMode", "ExactCount")
                    .put("count", 1);
            if (adminAccess) {
                exactly.put("adminAccess", true);
            }
        }

        private static void addConfig(ObjectNode devices, ObjectNode parameters) {
            ObjectNode config = devices.withArray("config").addObject();
            if (parameters.has("requests")) {
                config.set("requests", parameters.remove("requests"));
            }
            if (!parameters.has("driver")) {
                parameters.put("driver", LaneConfigs.DRIVER).put("apiVersion", LaneConfigs.DRIVER + "/v1");
            }
            config.putObject("opaque").set("driver", parameters.remove("driver"));
            config.withObject("/opaque").set("parameters", parameters);
        }
    }
}
