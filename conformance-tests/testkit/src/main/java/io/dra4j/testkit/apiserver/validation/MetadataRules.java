// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.store.StoredObject;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Initializes and validates {@code metadata} of all kinds. */
public final class MetadataRules {
    /** Base length of a generated name: with five random characters it stays a label of 63. */
    private static final int MAX_GENERATED_BASE = 58;

    private static final String RANDOM_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
    private static final List<String> SERVER_OWNED =
            List.of("uid creationTimestamp deletionTimestamp deletionGracePeriodSeconds generation".split(" "));

    /** Kinds with finalizers of any form. */
    private static final Set<String> WITHOUT_FINALIZER_DOMAINS = Set.of("leases", "events");

    /** Kinds whose changed objects keep to the rules of new ones. */
    private static final Set<String> CHECKED_AS_NEW = Set.of("deviceclasses", "resourceclaims");

    private final InstantSource clock;
    private final RandomGenerator random;

    /**
     * @param random draws uids, and the ends of generated names
     */
    public MetadataRules(InstantSource clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

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
        String sent = kind.namespaced() ? Json.text(body, "metadata", "namespace") : "";
        if (!sent.isEmpty() && !sent.equals(namespace)) {
            throw ApiFailure.badRequest(
                    "the namespace of the provided object does not match the namespace sent on the request");
        }
    }

    /** Refuses a body that says that it is of another kind, be it one that there is or not. */
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

    /** Makes the metadata of a new object. */
    public void initialize(ResourceKind kind, ObjectKey key, ObjectNode object) {
        ObjectNode metadata = Json.metadata(object);
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
        ObjectNode metadata = Json.metadata(next);
        SERVER_OWNED.forEach(field -> Json.carryOver(old, metadata, field));
        List.of("name", "namespace", "resourceVersion", "managedFields")
                .forEach(field -> Json.carryOver(old, metadata, field));
        metadata.remove("selfLink");
        name(current.kind(), next);
    }

    private static void name(ResourceKind kind, ObjectNode object) {
        for (String map : List.of("labels", "annotations")) {
            if (Json.at(object, "metadata", map).isEmpty()) {
                Json.metadata(object).remove(map);
            }
        }
        object.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    }

    /** Counts a change of anything but metadata and status. */
    public void countGeneration(StoredObject current, ObjectNode next) {
        if (current.kind().has(Trait.GENERATION) && !desired(next).equals(desired(current.json()))) {
            bumpGeneration(next);
        }
    }

    private static ObjectNode desired(ObjectNode object) {
        ObjectNode rest = Json.object();
        rest.setAll(object);
        rest.remove(List.of("metadata", "status"));
        return rest;
    }

    private static void bumpGeneration(ObjectNode next) {
        ObjectNode metadata = Json.metadata(next);
        metadata.put("generation", metadata.path("generation").asInt() + 1);
    }

    /** Marks an object that waits for its finalizers. */
    public ObjectNode deleting(StoredObject current) {
        ObjectNode next = current.copy();
        ObjectNode metadata = Json.metadata(next);
        if (!metadata.has("deletionTimestamp")) {
            metadata.put("deletionTimestamp", now()).put("deletionGracePeriodSeconds", 0);
            if (current.kind().has(Trait.GENERATION)) {
                bumpGeneration(next);
            }
        }
        return next;
    }

    public static boolean hasFinalizers(JsonNode object) {
        return !Json.at(object, "metadata", "finalizers").isEmpty();
    }

    public static boolean isDeleting(JsonNode object) {
        return Json.at(object, "metadata").hasNonNull("deletionTimestamp");
    }

    /** Collects what is wrong with the metadata of a new object. */
    public static void validate(ResourceKind kind, ObjectNode object, FieldErrors errors) {
        MetadataForm form = new MetadataForm(object, errors);
        form.checkNames(kind);
        form.checkValues();
        if (!WITHOUT_FINALIZER_DOMAINS.contains(kind.plural())) {
            form.checkDomainsOfFinalizers();
        }
    }

    /**
     * Collects what is wrong with the metadata of an object that takes the place of another one.
     * The real server checks it for all kinds, again as a change, and again for its kind.
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
     * The kinds that a body may say it is of without being unknown; the rest of the core group is left
     * out where no client of this server has it.
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
}
