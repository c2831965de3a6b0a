// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.SliceRules;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A {@code ResourceSlice} of {@code resource.k8s.io/v1}, to JSON and back.
 *
 * @param node the node that publishes and owns them; empty for the driver's controller, whose slices have no owner
 */
public record SliceCodec(String driver, String node) {

    private static final String OWNERS = "ownerReferences";

    /**
     * Returns the content in the form that it has after a round trip through the API, so that contents that mean the
     * same are equal: raw JSON in one form, times in whole seconds. One that has it is returned as it is, since copies
     * of a thousand devices take memory.
     *
     * @throws IllegalArgumentException if it can't be written, with device and field
     */
    public static Content canonical(Content content) {
        Content read = content(new SliceCodec("", "").spec(content));
        return read.equals(content) ? content : read;
    }

    /** Returns whether a field of a device has its own type, so that it is not a raw field. */
    public static boolean isTyped(String field) {
        return DeviceCodec.KNOWN.contains(field) || NodeAllocatableCodec.isField(field);
    }

    /** Returns the API's name of the type of a value, such as {@code string}. */
    public static String typeOf(AttributeValue value) {
        return Objects.requireNonNull(DeviceCodec.AttributeCodec.TYPES.get(value.getClass()));
    }

    /** Returns the body of a create request; the server truncates the name's base to 58 characters. */
    ObjectNode encodeNew(int index, Content content, String nodeUid) {
        ObjectNode slice = slice(content, nodeUid);
        String base = String.format(Locale.ROOT, "%07x-%s-%s-", index, driver, node);
        ((ObjectNode) slice.get("metadata")).put("generateName", base);
        return slice;
    }

    /**
     * Returns the body of a create request with a name that is always the same, for a publisher without a node: of two
     * that both believe to be the leader, the second is refused.
     */
    ObjectNode encodeNamed(int index, Content content) {
        ObjectNode slice = slice(content, "");
        byte[] pool = content.pool().value().getBytes(StandardCharsets.UTF_8);
        String name = String.format(Locale.ROOT, "%07x-%s-%s", index, driver, UUID.nameUUIDFromBytes(pool));
        ((ObjectNode) slice.get("metadata")).put("name", name);
        return slice;
    }

    /** Returns the errors for which a server of a release, with some gates on, refuses a slice. */
    public List<FieldError> refusals(Content content, FeatureGates gates) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(gates).check(spec(content), errors);
        return errors.all();
    }

    /** Returns the slice as JSON, without what only a cluster can give it: name and owner. */
    public String json(Content content) {
        ObjectNode slice = slice(content, "");
        slice.remove("metadata");
        return Json.sorted(slice);
    }

    /** Returns the body of an update request, which fails if the slice has another version. */
    ObjectNode encodeUpdate(Stored slice, Content content, String nodeUid) {
        ObjectNode json = slice(content, nodeUid);
        ObjectNode metadata = (ObjectNode) json.get("metadata");
        ObjectNode others = (ObjectNode) Json.parse(slice.others());
        metadata.withArray(OWNERS).forEach(others.withArray(OWNERS)::add);
        metadata.setAll(others);
        metadata.put("name", slice.name()).put("uid", slice.uid()).put("resourceVersion", slice.resourceVersion());
        return json;
    }

    /** Reads the JSON of a slice that no node owns; empty if its pool has a name that the SDK does not allow. */
    public Optional<Stored> decode(String slice) {
        return decode(Json.parse(slice), "");
    }

    /** Reads a slice; empty if its pool has a name that no pool of this SDK can have. */
    Optional<Stored> decode(JsonNode slice, String nodeUid) {
        JsonNode metadata = slice.path("metadata");
        JsonNode spec = slice.path("spec");
        return poolName(spec).map(pool -> {
            Optional<Content> content = readable(spec);
            return new Stored(
                    metadata.path("name").asText(),
                    metadata.path("uid").asText(),
                    metadata.path("resourceVersion").asText(),
                    isOurs(slice, nodeUid),
                    content.orElseGet(() -> empty(pool, spec)),
                    content.isPresent(),
                    others(metadata));
        });
    }

    /** Returns the metadata that others may set; a slice without a node has no owner. */
    private String others(JsonNode metadata) {
        ObjectNode others = Json.object();
        Stream.of("labels", "annotations", "finalizers", OWNERS)
                .filter(metadata::has)
                .forEach(field -> others.set(field, metadata.get(field).deepCopy()));
        others.withArray(OWNERS)
                .removeIf(owner -> node.isEmpty()
                        || owner.path("controller").asBoolean()
                        || owner.path("kind").asText().equals("Node"));
        return others.toString();
    }

    private static Optional<PoolName> poolName(JsonNode spec) {
        try {
            return Optional.of(new PoolName(spec.path("pool").path("name").asText()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private ObjectNode slice(Content content, String nodeUid) {
        ObjectNode slice = Json.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceSlice");
        ObjectNode metadata = slice.putObject("metadata");
        if (!node.isEmpty()) {
            metadata.putArray(OWNERS)
                    .addObject()
                    .put("apiVersion", "v1")
                    .put("kind", "Node")
                    .put("name", node)
                    .put("uid", nodeUid)
                    .put("controller", true);
        }
        slice.set("spec", spec(content));
        return slice;
    }

    private ObjectNode spec(Content content) {
        ObjectNode spec = Json.object().put("driver", driver);
        spec.putObject("pool")
                .put("name", content.pool().value())
                .put("generation", content.generation())
                .put("resourceSliceCount", content.sliceCount());
        PlacementCodec.putPool(spec, content.placement(), node);
        Json.putList(spec, "devices", content.devices(), DeviceCodec::encode);
        Json.putList(spec, "sharedCounters", content.counterSets(), SliceCodec::counterSet);
        if (content.partitionTypeAttribute() != null) {
            spec.put("partitionTypeAttribute", content.partitionTypeAttribute());
        }
        Json.putStrings(spec, "skipNodeOperations", content.skipNodeOperations());
        return spec;
    }

    /** Returns whether a slice's owner is the node; without a node, whether it has none. */
    boolean isOurs(JsonNode slice, String nodeUid) {
        JsonNode references = slice.path("metadata").path(OWNERS);
        if (node.isEmpty()) {
            return references.isEmpty();
        }
        return Json.list(references, reference -> reference).stream()
                .anyMatch(reference -> reference.path("kind").asText().equals("Node")
                        && reference.path("uid").asText().equals(nodeUid));
    }

    private static Optional<Content> readable(JsonNode spec) {
        try {
            return Optional.of(content(spec));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * A slice of another client in a form that this SDK never writes counts as an empty one: it is
     * then replaced, instead of blocking everything.
     */
    private static Content empty(PoolName name, JsonNode spec) {
        JsonNode pool = spec.path("pool");
        return new Content(
                name,
                pool.path("generation").asLong(),
                pool.path("resourceSliceCount").asLong(),
                spec.path("nodeName").isTextual() ? new Placement.ThisNode() : new Placement.AllNodes(),
                List.of(),
                List.of());
    }

    private static Content content(JsonNode spec) {
        JsonNode pool = spec.path("pool");
        return new Content(
                new PoolName(pool.path("name").asText()),
                pool.path("generation").asLong(),
                pool.path("resourceSliceCount").asLong(),
                PlacementCodec.ofPool(spec),
                DeviceCodec.decodeAll(spec.path("devices")),
                Json.list(spec.path("sharedCounters"), SliceCodec::counterSet).stream()
                        .sorted(Comparator.comparing(CounterSet::name))
                        .toList(),
                spec.path("partitionTypeAttribute").textValue(),
                Json.sortedStrings(spec.path("skipNodeOperations")));
    }

    private static ObjectNode counterSet(CounterSet set) {
        ObjectNode json = Json.object().put("name", set.name());
        json.set("counters", DeviceCodec.counters(set.counters(), set.rawFields()));
        return json;
    }

    private static CounterSet counterSet(JsonNode json) {
        CounterSet.Builder set = CounterSet.builder(json.path("name").asText());
        DeviceCodec.readRawFields(json.path("counters"), set::rawFields);
        return set.counters(DeviceCodec.counters(json.path("counters"))).build();
    }
}
