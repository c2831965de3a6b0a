// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.testkit.settings.ManifestFiles;
import io.dra4j.testkit.settings.SettingsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The manifests of {@code driver.claims}: what claims of the driver's users look like.
 *
 * @param templates the templates of claims
 * @param classes the objects of the classes that they name
 * @param notes a sentence for each class that is not among the manifests
 */
public record ClaimTemplates(List<ClaimTemplate> templates, Map<String, JsonNode> classes, List<String> notes) {

    private static final String GROUP = "resource.k8s.io/";

    /**
     * Reads the setting.
     *
     * @param claims files with manifests, or manifests; none if claims have no particular shape
     * @param driver the driver whose devices are selected by a class that is not among the manifests
     * @throws SettingsException if they cannot be read or used
     */
    public static ClaimTemplates read(List<JsonNode> claims, String driver) {
        List<JsonNode> manifests = new ArrayList<>();
        for (JsonNode one : claims) {
            manifests.addAll(
                    one.isTextual() ? ManifestFiles.file("driver.claims", Path.of(one.asText())) : List.of(one));
        }
        List<ClaimTemplate> templates = Stream.of("ResourceClaim", "ResourceClaimTemplate")
                .flatMap(kind -> of(kind, manifests))
                .map(ClaimTemplate::of)
                .toList();
        if (templates.isEmpty() && !claims.isEmpty()) {
            throw new SettingsException(
                    "driver.claims: the %d manifests of %s contain neither a ResourceClaimTemplate nor a ResourceClaim"
                            .formatted(manifests.size(), claims));
        }
        Map<String, JsonNode> classes = new LinkedHashMap<>();
        of("DeviceClass", manifests)
                .forEach(one -> classes.put(one.at("/metadata/name").asText(), one));
        List<String> notes = new ArrayList<>();
        for (ClaimTemplate template : templates) {
            for (String name : template.classes()) {
                if (classes.putIfAbsent(name, ofDriver(name, driver)) == null) {
                    notes.add(
                            "driver.claims: the DeviceClass \"%s\" of %s is not among the manifests, and is taken to select all devices with device.driver == \"%s\""
                                    .formatted(name, template.title(), driver));
                }
            }
        }
        classes.forEach((name, json) -> ClaimTemplate.requireCompiled(
                "DeviceClass " + name, DeviceClass.of(json).selectors()));
        return new ClaimTemplates(templates, classes, notes);
    }

    private static Stream<JsonNode> of(String kind, List<JsonNode> manifests) {
        return manifests.stream()
                .filter(one -> one.path("apiVersion").asText().startsWith(GROUP))
                .filter(one -> one.path("kind").asText().equals(kind));
    }

    private static JsonNode ofDriver(String name, String driver) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.putObject("metadata").put("name", name);
        json.putObject("spec")
                .putArray("selectors")
                .addObject()
                .putObject("cel")
                .put("expression", "device.driver == \"" + driver + "\"");
        return json;
    }

    /** Returns whether claims have no particular shape. */
    public boolean isEmpty() {
        return templates.isEmpty();
    }
}
