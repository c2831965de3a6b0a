// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/** Objects in YAML, with fields in the order of their names; there are no watches in it. */
final class YamlRendition extends Rendition {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .disable(YAMLGenerator.Feature.SPLIT_LINES)
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private final Rendition form;

    /**
     * @param form the same form in JSON
     */
    YamlRendition(Rendition form) {
        this.form = form;
    }

    @Override
    Body object(StoredObject object) {
        return yaml(form.object(object));
    }

    @Override
    Body list(ResourceKind kind, Listing listing) {
        return yaml(form.list(kind, listing));
    }

    @Override
    Body status(ObjectNode status) {
        return yaml(form.status(status));
    }

    @Override
    boolean isStreamed() {
        return false;
    }

    static Body yaml(Body json) {
        try {
            Map<?, ?> value = Json.MAPPER.readValue(json.bytes(), Map.class);
            return new Body(Body.YAML, YAML.writeValueAsBytes(value));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Body yaml(JsonNode object) {
        return yaml(Body.json(object));
    }
}
