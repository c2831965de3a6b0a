// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.manifests;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.settings.ManifestFiles;
import io.dra4j.testkit.settings.ManifestFiles.Manifest;
import io.dra4j.testkit.settings.SettingsException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The objects of manifests, as they are applied to the embedded API server. */
public final class ManifestObjects {

    private static final String SETTING = "--manifests";

    private ManifestObjects() {}

    /** An object, and its place in the manifests, for messages. */
    private record Placed(JsonNode object, String place) {}

    /**
     * Creates or replaces the objects with their status, namespaces first and the rest in the order
     * of the files' names.
     *
     * @param places files, and folders of them
     * @return the objects as they are stored
     * @throws SettingsException if one cannot be read, or the server refuses it
     */
    public static List<JsonNode> put(List<String> places, ClusterObjects objects) {
        List<Manifest> manifests = ManifestFiles.documents(SETTING, places);
        if (manifests.isEmpty() && !places.isEmpty()) {
            throw new SettingsException("%s: no object in %s; put *.yaml, *.yml or *.json files there"
                    .formatted(SETTING, String.join(" and ", places)));
        }
        return putAll(manifests, objects);
    }

    /**
     * Creates or replaces the objects of a text, as {@link #put(List, ClusterObjects)} does.
     *
     * @param text YAML or JSON, with any number of documents
     * @return the objects as they are stored
     * @throws SettingsException if it cannot be read, or the server refuses it
     */
    public static List<JsonNode> putText(String text, ClusterObjects objects) {
        List<Manifest> manifests = ManifestFiles.documents(SETTING, "the text", text);
        return putAll(manifests, objects);
    }

    private static List<JsonNode> putAll(List<Manifest> manifests, ClusterObjects objects) {
        List<Placed> placed = new ArrayList<>();
        manifests.forEach(manifest -> addTo(placed, manifest.object(), manifest.place()));
        return placed.stream()
                .sorted(Comparator.comparing(one -> !isNamespace(one.object())))
                .map(one -> put(one, objects))
                .toList();
    }

    /** Adds an object, or the items of a list, such as {@code kubectl get -o yaml} prints. */
    private static void addTo(List<Placed> all, JsonNode object, String place) {
        if (!object.path("kind").asText().endsWith("List")) {
            all.add(new Placed(object, place));
            return;
        }
        int item = 1;
        for (JsonNode one : object.path("items")) {
            addTo(all, one, place + ", item " + item++);
        }
    }

    private static boolean isNamespace(JsonNode object) {
        return object.path("kind").asText().equals("Namespace");
    }

    private static JsonNode put(Placed placed, ClusterObjects objects) {
        try {
            return objects.putStrictly(placed.object());
        } catch (ApiFailure | IllegalArgumentException e) {
            throw new SettingsException(
                    "%s: %s (%s): %s".formatted(SETTING, placed.place(), described(placed.object()), e.getMessage()));
        }
    }

    private static String described(JsonNode object) {
        String namespace = object.at("/metadata/namespace").asText();
        String name = object.at("/metadata/name").asText();
        return "%s %s"
                .formatted(object.path("kind").asText("no kind"), namespace.isEmpty() ? name : namespace + "/" + name);
    }
}
