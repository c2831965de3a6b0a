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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * All requirements of the suite, in the order of their areas.
 *
 * <p>Immutable. Every reference between its parts resolves, without cycles.
 */
public final class Catalogue {

    private static final int NEAREST = 3;

    private static final String RESOURCE = "requirements.yaml";

    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
            .build();

    /** The file's own form; its requirements are decoded one by one, to name the damaged one. */
    private record Content(String version, List<Profile> profiles, List<JsonNode> requirements) {}

    private final String version;
    private final Map<String, Profile> profiles;
    private final Map<String, Requirement> requirements;

    private Catalogue(String version, List<Profile> profiles, List<Requirement> requirements) {
        this.version = version;
        this.profiles = byKey(profiles, Profile::name);
        this.requirements = byKey(requirements, Requirement::id);
        requirements.forEach(this::checkReferences);
        requirements.forEach(requirement -> checkOrder(requirement, List.of()));
    }

    /** The catalogue of this suite; an IllegalStateException names the requirement that is damaged. */
    public static Catalogue load() {
        try (InputStream in = Catalogue.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is not in the archive of the suite");
            }
            return read(RESOURCE, in);
        } catch (IOException e) {
            throw new IllegalStateException(RESOURCE + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** Decodes a catalogue; an unknown field or a dangling reference is an error. */
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

    /** The edition of the catalogue, for example {@code 2026.1}. */
    public String version() {
        return version;
    }

    /** The requirements, in the order of the catalogue. */
    public List<Requirement> requirements() {
        return List.copyOf(requirements.values());
    }

    /** The requirement with an id, for example {@code DRA-PREP-05}. */
    public Optional<Requirement> find(String id) {
        return Optional.ofNullable(requirements.get(id));
    }

    /** The known ids that look most like an unknown one, for people who mistyped it. */
    public String nearest(String id) {
        return String.join(", ", new KnownNames(List.copyOf(requirements.keySet())).nearest(id, NEAREST));
    }

    /** The profiles, core ones first. */
    public List<Profile> profiles() {
        return List.copyOf(profiles.values());
    }

    private void checkReferences(Requirement requirement) {
        known(requirement, "profile", List.of(requirement.profile()), profiles);
        known(requirement, "requirement", requirement.needs(), requirements);
    }

    private static void known(Requirement requirement, String what, List<String> names, Map<String, ?> all) {
        for (String name : names) {
            if (!all.containsKey(name)) {
                throw new IllegalArgumentException(
                        requirement.id() + " names the " + what + " " + name + ", which is unknown");
            }
        }
    }

    private void checkOrder(Requirement requirement, List<String> way) {
        if (way.contains(requirement.id())) {
            throw new IllegalArgumentException(requirement.id() + " needs itself, by way of " + String.join(", ", way));
        }
        List<String> further = new ArrayList<>(way);
        further.add(requirement.id());
        for (String need : requirement.needs()) {
            checkOrder(requirements.get(need), further);
        }
    }

    private static <T> Map<String, T> byKey(List<T> all, Function<T, String> key) {
        Map<String, T> found = new LinkedHashMap<>();
        for (T one : all) {
            if (found.put(key.apply(one), one) != null) {
                throw new IllegalArgumentException(key.apply(one) + " appears twice");
            }
        }
        return Collections.unmodifiableMap(found);
    }
}
