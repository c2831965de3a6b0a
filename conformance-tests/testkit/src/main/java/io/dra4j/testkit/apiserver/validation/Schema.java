// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.validation.FieldType.Member;
import io.dra4j.testkit.apiserver.validation.FieldType.Named;
import io.dra4j.testkit.apiserver.validation.FieldType.Struct;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of one release, and what decoding into them does: unknown fields vanish, wrong types
 * are refused, quantities take their canonical form.
 *
 * <p>Immutable. The fields are data: {@code fields.yaml}.
 */
public final class Schema {
    private static final JsonNode FILE = read();

    private final KubernetesVersion version;
    private final Map<String, FieldType> types = new HashMap<>();

    public Schema(KubernetesVersion version) {
        this.version = version;
        FILE.properties().forEach(type -> types.put(type.getKey(), FieldType.of(type.getValue(), version)));
    }

    private static JsonNode read() {
        try (InputStream file = Schema.class.getResourceAsStream("fields.yaml")) {
            return Json.YAML.readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the jar of the embedded API server is damaged: fields.yaml", e);
        }
    }

    /**
     * Brings a whole object into form: nulls and unknown fields are gone, quantities and times are rewritten.
     *
     * @return the paths of the unknown fields
     * @throws ApiFailure 400 for a value of the wrong type
     */
    public List<String> fit(ResourceKind kind, ObjectNode object) {
        Json.metadata(object);
        Decoding decoding = new Decoding(kind, version, types);
        decoding.object(object, "", whole(kind, object));
        decoding.requireFit();
        if (!types.containsKey(kind.kind())) {
            Canonical.dropNulls(object);
        }
        return decoding.unknown();
    }

    /** Adds the fields that are written even if they were never set. */
    public void complete(ResourceKind kind, ObjectNode object) {
        new Completion(types).complete(object, whole(kind, object));
    }

    /** The fields of an object; a kind that is not listed may have any. */
    private Struct whole(ResourceKind kind, ObjectNode object) {
        Map<String, Member> members = new LinkedHashMap<>();
        if (types.get(kind.kind()) instanceof Struct listed) {
            members.putAll(listed.members());
        } else {
            Json.names(object).forEach(name -> members.put(name, member("raw")));
        }
        members.put("apiVersion", member("string"));
        members.put("kind", member("string"));
        members.put("metadata", member("ObjectMeta"));
        return new Struct(members);
    }

    private static Member member(String type) {
        return new Member(new Named(type), false);
    }
}
