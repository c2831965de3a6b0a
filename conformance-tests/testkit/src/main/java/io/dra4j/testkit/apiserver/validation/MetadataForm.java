// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Field;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.Names;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The rules for the fields of {@code metadata}, in the words of the real server. */
final class MetadataForm {
    private static final int LONGEST_ANNOTATIONS = 256 * 1024;
    private static final List<String> STANDARD_FINALIZERS = List.of("kubernetes", "orphan", "foregroundDeletion");

    private final Field metadata;
    private final FieldErrors errors;

    MetadataForm(JsonNode object, FieldErrors errors) {
        this.metadata = new Field(object.path("metadata"), "metadata", errors);
        this.errors = errors;
    }

    /** Checks the name, and the beginning of it from which the server made it. */
    void checkNames(ResourceKind kind) {
        Field base = metadata.at("generateName");
        if (!base.text().isEmpty() && !kind.plural().equals("deviceclasses")) {
            String form = base.text().replaceFirst("(?s).-\\z", "a");
            nameProblems(kind, form).forEach(problem -> errors.invalid(base.path(), base.text(), problem));
        }
        Field name = metadata.at("name");
        if (name.text().isEmpty()) {
            errors.required(name.path(), "name or generateName is required");
        } else {
            name.requireForm(text -> nameProblems(kind, text));
        }
    }

    private static List<String> nameProblems(ResourceKind kind, String name) {
        return switch (kind.plural()) {
            case "namespaces" -> Names.dnsLabelProblems(name);
            case "deviceclasses" -> Names.longNameProblems(name);
            case "events" ->
                kind.group().isEmpty() ? Names.pathSegmentProblems(name) : Names.dnsSubdomainProblems(name);
            default -> Names.dnsSubdomainProblems(name);
        };
    }

    /** Checks the fields of new objects and of changed ones. */
    void checkValues() {
        long generation = metadata.at("generation").value().asLong();
        if (generation < 0) {
            String rule = "must be greater than or equal to 0";
            errors.invalid("metadata.generation", generation, rule);
        }
        checkLabels(metadata.at("labels"));
        checkAnnotations(metadata.at("annotations"));
        checkOwners(metadata.at("ownerReferences"));
        checkFinalizers(metadata.at("finalizers"));
    }

    private void checkLabels(Field labels) {
        for (Map.Entry<String, JsonNode> label : labels.value().properties()) {
            check(labels, label.getKey(), Names.qualifiedNameProblems(label.getKey()));
            String value = label.getValue().asText();
            check(labels, value, Names.labelValueProblems(value));
        }
    }

    private void checkAnnotations(Field annotations) {
        int length = 0;
        for (Map.Entry<String, JsonNode> one : annotations.value().properties()) {
            String key = one.getKey();
            check(annotations, key, Names.qualifiedNameProblems(key.toLowerCase(Locale.ROOT)));
            length += bytes(key) + bytes(one.getValue().asText());
        }
        if (length > LONGEST_ANNOTATIONS) {
            errors.tooLong(annotations.path(), LONGEST_ANNOTATIONS);
        }
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private void check(Field field, String text, List<String> problems) {
        problems.forEach(problem -> errors.invalid(field.path(), text, problem));
    }

    /** Errors do not say which of the owners they are about. */
    private void checkOwners(Field owners) {
        String controller = "";
        for (JsonNode owner : owners.value()) {
            checkOwner(owners, owner);
            if (owner.path("controller").asBoolean()) {
                String name = Json.text(owner, "kind") + "/" + Json.text(owner, "name");
                if (controller.isEmpty()) {
                    controller = name;
                } else {
                    errors.invalid(
                            owners.path(),
                            owners.value(),
                            "Only one reference can have Controller set to true. Found \"true\" in references for %s and %s"
                                    .formatted(controller, name));
                }
            }
        }
    }

    private void checkOwner(Field owners, JsonNode owner) {
        String version = Json.text(owner, "apiVersion");
        if (version.isEmpty() || version.endsWith("/") || version.matches(".*/.*/.*")) {
            errors.invalid(owners.path() + ".apiVersion", version, "version must not be empty");
        }
        for (String field : List.of("kind", "name", "uid")) {
            if (Json.text(owner, field).isEmpty()) {
                errors.invalid(owners.path() + "." + field, "", "must not be empty");
            }
        }
        if (version.equals("v1") && Json.text(owner, "kind").equals("Event")) {
            errors.invalid(owners.path(), owner, "/v1, Kind=Event is disallowed from being an owner");
        }
    }

    private void checkFinalizers(Field finalizers) {
        for (Field finalizer : finalizers.items()) {
            check(finalizers, finalizer.text(), Names.qualifiedNameProblems(finalizer.text()));
        }
        List<String> all = finalizers.items().stream().map(Field::text).toList();
        if (all.contains("orphan") && all.contains("foregroundDeletion")) {
            errors.invalid(
                    finalizers.path(),
                    finalizers.value(),
                    "finalizer orphan and foregroundDeletion cannot be both set");
        }
    }

    /** A finalizer without a domain is one of Kubernetes' own. */
    void checkDomainsOfFinalizers() {
        for (Field finalizer : metadata.at("finalizers").items()) {
            boolean known = finalizer.text().contains("/") || STANDARD_FINALIZERS.contains(finalizer.text());
            finalizer.requireThat(known, "name is neither a standard finalizer name nor is it fully qualified");
        }
    }
}
