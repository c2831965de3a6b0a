// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Decodes the catalogue's file; what it does not know or cannot place is an error. */
final class CatalogueReader {

    private static final ObjectMapper YAML =
            YAMLMapper.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                    .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
                    .build();

    /** The file's own form; its requirements are decoded one by one, to name the damaged one. */
    private record Content(String version, List<Profile> profiles, List<JsonNode> requirements) {}

    private CatalogueReader() {}

    static Catalogue resource(String name) {
        try (InputStream in = CatalogueReader.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is not in the archive of the suite");
            }
            return read(name, in);
        } catch (IOException e) {
            throw new IllegalStateException(name + " cannot be read: " + e.getMessage(), e);
        }
    }

    static Catalogue read(String name, InputStream in) throws IOException {
        Content content = YAML.readValue(in, Content.class);
        List<Requirement> requirements = new ArrayList<>();
        for (JsonNode node : content.requirements()) {
            requirements.add(requirement(name, node));
        }
        try {
            return new Catalogue(content.version(), content.profiles(), requirements);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(name + ": " + e.getMessage(), e);
        }
    }

    private static Requirement requirement(String name, JsonNode node) {
        try {
            return YAML.treeToValue(node, Requirement.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(
                    name + ", " + node.path("id").asText("?") + ": " + e.getOriginalMessage(), e);
        }
    }
}
