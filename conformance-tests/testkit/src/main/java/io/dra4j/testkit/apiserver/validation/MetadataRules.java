// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.Field;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.Names;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Initializes and validates {@code metadata} of all kinds.
 *
 * @param random draws uids, and the ends of generated names
 */
public record MetadataRules(InstantSource clock, RandomGenerator random) {
    /** Base length of a generated name: with five random characters it stays a label of 63. */
    private static final int MAX_GENERATED_BASE = 58;

    private static final String RANDOM_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
    private static final List<String> SERVER_OWNED =
            List.of("uid creationTimestamp deletionTimestamp deletionGracePeriodSeconds generation".split(" "));

    /** Kinds with finalizers of any form. */
    private static final Set<String> WITHOUT_FINALIZER_DOMAINS = Set.of("leases", "events");

    /** Kinds whose changed objects must follow the rules of new ones. */
    private static final Set<String> CHECKED_AS_NEW = Set.of("deviceclasses", "resourceclaims");

    public String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    public String generatedName(String base) {
        StringBuilder name = new StringBuilder(base.substring(0, Math.min(base.length(), MAX_GENERATED_BASE)));
        random.ints(5, 0, RANDOM_CHARACTERS.length()).forEach(at -> name.append(RANDOM_CHARACTERS.charAt(at)));
        return name.toString();
    }

    /** Refuses a body of another kind, and one whose namespace is not that of the path. */
    public static void requireFits(ResourceKind kind, String namespace, ObjectNode body) {
        requireKind(kind, body);
        String apiVersion = body.path("apiVersion").asText(kind.apiVersion());
        if (!apiVersion.equals(kind.apiVersion())) {
            throw ApiFailure.badRequest("the API version in the data (%s) does not match the expected API version (%s)"
                    .formatted(apiVersion, kind.apiVersion()));
        }
        String sent = kind.namespaced() ? JsonTrees.text(body, "metadata", "namespace") : "";
        if (!sent.isEmpty() && !sent.equals(namespace)) {
            throw ApiFailure.badRequest(
                    "the namespace of the provided object does not match the namespace sent on the request");
        }
    }

    /** Refuses a body whose kind does not match the endpoint. */
    public static void requireKind(ResourceKind kind, ObjectNode body) {
        String apiVersion = body.path("apiVersion").asText(kind.apiVersion());
        String sent = body.path("kind").asText(kind.kind());
        if (!RegisteredKinds.has(apiVersion, sent)) {
            throw ApiFailure.unfit(
                    sent,
                    apiVersion.substring(apiVersion.indexOf('/') + 1),
                    kind,
                    "no kind %s is registered for version %s in scheme \"pkg/api/legacyscheme/scheme.go:30\""
                            .formatted(QuotedText.of(sent), QuotedText.of(apiVersion)));
        }
        if (!sent.equals(kind.kind())) {
            String version = apiVersion.substring(apiVersion.indexOf('/') + 1);
            throw ApiFailure.unfit(
                    sent,
                    version,
                    kind,
                    "converting (%s.%s) to (%s.%s): unknown conversion"
                            .formatted(
                                    version,
                                    sent,
                                    kind.group().isEmpty()
                                            ? "core"
                                            : kind.group().split("\\.")[0],
                                    kind.kind()));
        }
    }

    /** Creates the metadata of a new object. */
    public void initialize(ResourceKind kind, ObjectKey key, ObjectNode object) {
        ObjectNode metadata = JsonTrees.metadata(object);
        JsonNode generation = metadata.path("generation");
        metadata.remove(SERVER_OWNED);
        metadata.remove(List.of("managedFields", "selfLink", "resourceVersion"));
        metadata.put("name", key.name());
        if (kind.namespaced()) {
            metadata.put("namespace", key.namespace());
        } else {
            metadata.remove("namespace");
        }
        metadata.put("uid", newUid());
        metadata.put("creationTimestamp", now());
        if (kind.has(Trait.GENERATION)) {
            metadata.put("generation", 1);
        } else if (generation.asLong() != 0) {
            metadata.set("generation", generation);
        }
        name(kind, object);
    }

    /** A uid of version 4. */
    private String newUid() {
        long high = random.nextLong() & ~0xF000L | 0x4000L;
        return new UUID(high, random.nextLong() >>> 2 | Long.MIN_VALUE).toString();
    }

    /** Carries over what clients cannot change. */
    public void carryOver(StoredObject current, ObjectNode next) {
        ObjectNode old = (ObjectNode) current.json().path("metadata");
        ObjectNode metadata = JsonTrees.metadata(next);
        SERVER_OWNED.forEach(field -> JsonTrees.carryOver(old, metadata, field));
        List.of("name", "namespace", "resourceVersion", "managedFields")
                .forEach(field -> JsonTrees.carryOver(old, metadata, field));
        metadata.remove("selfLink");
        name(current.kind(), next);
    }

    private static void name(ResourceKind kind, ObjectNode object) {
        for (String map : List.of("labels", "annotations")) {
            if (JsonTrees.at(object, "metadata", map).isEmpty()) {
                JsonTrees.metadata(object).remove(map);
            }
        }
        object.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    }

    /** Increments the generation on changes outside of metadata and status. */
    public void countGeneration(StoredObject current, ObjectNode next) {
        if (current.kind().has(Trait.GENERATION) && !desired(next).equals(desired(current.json()))) {
            bumpGeneration(next);
        }
    }

    private static ObjectNode desired(ObjectNode object) {
        ObjectNode rest = JsonTrees.object();
        rest.setAll(object);
        rest.remove(List.of("metadata", "status"));
        return rest;
    }

    private static void bumpGeneration(ObjectNode next) {
        ObjectNode metadata = JsonTrees.metadata(next);
        metadata.put("generation", metadata.path("generation").asInt() + 1);
    }

    /** Marks an object that waits for its finalizers. */
    public ObjectNode deleting(StoredObject current) {
        ObjectNode next = current.copy();
        ObjectNode metadata = JsonTrees.metadata(next);
        if (!metadata.has("deletionTimestamp")) {
            metadata.put("deletionTimestamp", now()).put("deletionGracePeriodSeconds", 0);
            if (current.kind().has(Trait.GENERATION)) {
                bumpGeneration(next);
            }
        }
        return next;
    }

    public static boolean hasFinalizers(JsonNode object) {
        return !JsonTrees.at(object, "metadata", "finalizers").isEmpty();
    }

    public static boolean isDeleting(JsonNode object) {
        return JsonTrees.at(object, "metadata").hasNonNull("deletionTimestamp");
    }

    /** Collects the errors in the metadata of a new object. */
    public static void validate(ResourceKind kind, ObjectNode object, FieldErrors errors) {
        MetadataForm form = new MetadataForm(object, errors);
        form.checkNames(kind);
        form.checkValues();
        if (!WITHOUT_FINALIZER_DOMAINS.contains(kind.plural())) {
            form.checkDomainsOfFinalizers();
        }
    }

    /**
     * Collects the errors in the metadata of an object that replaces another one. The real server checks it three
     * times: by the rules for all kinds, by those for changes, and by those for its kind.
     */
    public static void validateUpdate(ResourceKind kind, ObjectNode object, FieldErrors errors) {
        MetadataForm form = new MetadataForm(object, errors);
        form.checkValues();
        form.checkValues();
        form.checkValues();
        if (CHECKED_AS_NEW.contains(kind.plural())) {
            form.checkDomainsOfFinalizers();
        }
    }

    /**
     * The kinds that a body may name without being unknown; the other kinds of the core group are omitted, because no
     * client of this server uses them.
     */
    private static final class RegisteredKinds {
        private static final Map<String, List<String>> BY_VERSION = Map.of(
                "v1",
                        words(
                                "Namespace Node Pod Event ConfigMap Secret Service ServiceAccount PersistentVolume PersistentVolumeClaim"),
                "coordination.k8s.io/v1", words("Lease"),
                "events.k8s.io/v1", words("Event"),
                "resource.k8s.io/v1alpha3", words("DeviceTaintRule"),
                "resource.k8s.io/v1beta1", words("DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"),
                "resource.k8s.io/v1beta2",
                        words("DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"),
                "resource.k8s.io/v1",
                        words("DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"));

        private RegisteredKinds() {}

        private static List<String> words(String text) {
            return List.of(text.split(" "));
        }

        static boolean has(String apiVersion, String kind) {
            List<String> kinds = BY_VERSION.getOrDefault(apiVersion, List.of());
            return kinds.contains(kind) || kinds.stream().anyMatch(one -> kind.equals(one + "List"));
        }
    }

    /** The rules for the fields of {@code metadata}, in the words of the real server. */
    private static final class MetadataForm {
        private static final int LONGEST_ANNOTATIONS = 256 * 1024;
        private static final List<String> STANDARD_FINALIZERS = List.of("kubernetes", "orphan", "foregroundDeletion");

        private final Field metadata;
        private final FieldErrors errors;

        MetadataForm(JsonNode object, FieldErrors errors) {
            this.metadata = new Field(object.path("metadata"), "metadata", errors);
            this.errors = errors;
        }

        /** Checks the name, and the prefix from which the server generated it. */
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

        /** Errors do not name the owner that they are about. */
        private void checkOwners(Field owners) {
            String controller = "";
            for (JsonNode owner : owners.value()) {
                checkOwner(owners, owner);
                if (owner.path("controller").asBoolean()) {
                    String name = JsonTrees.text(owner, "kind") + "/" + JsonTrees.text(owner, "name");
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
            String version = JsonTrees.text(owner, "apiVersion");
            if (version.isEmpty() || version.endsWith("/") || version.matches(".*/.*/.*")) {
                errors.invalid(owners.path() + ".apiVersion", version, "version must not be empty");
            }
            for (String field : List.of("kind", "name", "uid")) {
                if (JsonTrees.text(owner, field).isEmpty()) {
                    errors.invalid(owners.path() + "." + field, "", "must not be empty");
                }
            }
            if (version.equals("v1") && JsonTrees.text(owner, "kind").equals("Event")) {
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
}
