// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpField;

/** Chooses the form of a response from an Accept header: JSON, or YAML or protobuf if that comes first. */
final class Negotiation {
    /** The forms of objects. */
    static final List<String> FORMS = List.of(Body.JSON, Body.YAML, KubernetesProtobuf.MEDIA_TYPE);

    private static final int NOT_ACCEPTABLE = 406;
    private static final List<String> STREAMS =
            List.of(Body.JSON + ";stream=watch", KubernetesProtobuf.MEDIA_TYPE + ";stream=watch");

    private Negotiation() {}

    /** Refuses, with 406, a request that accepts no form of its resource, regardless of parameters. */
    static void requireForm(List<String> accepted, boolean watchable) {
        List<String> forms = new ArrayList<>(FORMS);
        if (watchable) {
            forms.addAll(STREAMS);
        }
        boolean known = accepted.stream()
                .map(HttpField::stripParameters)
                .anyMatch(type -> type.equals("*/*") || FORMS.contains(type));
        if (!known) {
            throw ApiFailure.unrepresentable(forms);
        }
    }

    /** Refuses, with 406, a watch in a form without streams. */
    static void requireStream(Rendition rendition) {
        if (!rendition.isStreamed()) {
            throw ApiFailure.notAcceptable(STREAMS);
        }
    }

    /**
     * The first form in the list that this server can give.
     *
     * @param optOut whether a form may omit managed fields; otherwise {@code drop} is ignored, like any unknown
     *     parameter
     * @throws ApiFailure 406 when there is none
     */
    static Rendition choose(List<String> accepted, String includeObject, boolean optOut, InstantSource clock) {
        for (String range : accepted) {
            Map<String, String> parameters = new HashMap<>();
            String type = HttpField.getValueParameters(range, parameters);
            boolean protobuf = KubernetesProtobuf.isProtobuf(type);
            boolean yaml = type.equals(Body.YAML);
            if (protobuf || yaml || isJson(type)) {
                Optional<Rendition> form = form(parameters, includeObject, clock);
                if (yaml) {
                    form = form.map(YamlRendition::new);
                } else if (protobuf) {
                    form = form.filter(found -> !(found instanceof TableRendition))
                            .map(found -> new ProtobufRendition(found, acceptsForm(accepted, "", "")));
                }
                if (form.isPresent()) {
                    return optOut && dropsManagedFields(parameters)
                            ? new Rendition.Mapped(form.get(), kind -> kind, StoredObject::withoutManagedFields)
                            : form.get();
                }
            }
        }
        throw ApiFailure.notAcceptable(FORMS);
    }

    /** KEP 5958: the fields to drop are joined by plus signs, and unknown ones are ignored. */
    private static boolean dropsManagedFields(Map<String, String> parameters) {
        return List.of(parameters.getOrDefault("drop", "").split("\\+")).contains("metadata.managedFields");
    }

    /** The Status of a failure; in JSON if the client accepts no supported form. */
    static Body ofFailure(List<String> accepted, ApiFailure failure) {
        String first = accepted.stream()
                .filter(range -> !isTableInProtobuf(range))
                .map(HttpField::stripParameters)
                .filter(type -> isJson(type) || FORMS.contains(type))
                .findFirst()
                .orElse(Body.JSON);
        if (failure.code() == NOT_ACCEPTABLE || isJson(first)) {
            return Body.json(failure.status());
        }
        return first.equals(Body.YAML)
                ? YamlRendition.yaml(failure.status())
                : Protobuf.body(Protobuf.CODEC.encode(failure.status()));
    }

    private static boolean isTableInProtobuf(String range) {
        Map<String, String> parameters = new HashMap<>();
        String type = HttpField.getValueParameters(range, parameters);
        return KubernetesProtobuf.isProtobuf(type) && "Table".equals(parameters.get("as"));
    }

    private static Optional<Rendition> form(Map<String, String> parameters, String includeObject, InstantSource clock) {
        String as = parameters.getOrDefault("as", "");
        boolean meta = "meta.k8s.io".equals(parameters.get("g")) && "v1".equals(parameters.get("v"));
        if (as.isEmpty()) {
            return Optional.of(new Rendition.Plain());
        }
        if (meta && as.equals("Table")) {
            requireIncludable(includeObject);
            return Optional.of(new TableRendition(includeObject, clock));
        }
        return meta && as.startsWith("PartialObjectMetadata")
                ? Optional.of(new Rendition.Metadata())
                : Optional.empty();
    }

    private static void requireIncludable(String includeObject) {
        if (!List.of("", "Metadata", "Object", "None").contains(includeObject)) {
            throw ApiFailure.badRequest(
                    "Unable to convert to Table as requested: includeObject: Invalid value: %s: must be 'Metadata', 'Object', 'None', or empty"
                            .formatted(QuotedText.of(includeObject)));
        }
    }

    /** Returns whether the list has plain JSON, or JSON in that very form. */
    static boolean acceptsForm(List<String> accepted, String as, String version) {
        for (String range : accepted) {
            Map<String, String> parameters = new HashMap<>();
            if (isJson(HttpField.getValueParameters(range, parameters))
                    && as.equals(parameters.getOrDefault("as", ""))
                    && (as.isEmpty() || version.equals(parameters.get("v")))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isJson(String type) {
        return type.equals(Body.JSON) || type.equals("application/*") || type.equals("*/*");
    }

    /** Objects in YAML, with fields in the order of their names; not for watches. Made from the same form in JSON. */
    private record YamlRendition(Rendition form) implements Rendition {
        private static final YAMLMapper YAML = YAMLMapper.builder()
                .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                .disable(YAMLGenerator.Feature.SPLIT_LINES)
                .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
                .build();

        @Override
        public Body object(StoredObject object) {
            return yaml(form.object(object));
        }

        @Override
        public Body list(ResourceKind kind, Listing listing) {
            return yaml(form.list(kind, listing));
        }

        @Override
        public Body status(ObjectNode status) {
            return yaml(form.status(status));
        }

        @Override
        public boolean isStreamed() {
            return false;
        }

        static Body yaml(Body json) {
            try {
                Map<?, ?> value = JsonTrees.MAPPER.readValue(json.bytes(), Map.class);
                return new Body(Body.YAML, YAML.writeValueAsBytes(value));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        static Body yaml(JsonNode object) {
            return yaml(Body.json(object));
        }
    }

    /**
     * Objects, or only their metadata, in protobuf.
     *
     * <p>An object that the schema cannot represent, such as one with a field of a newer release, is sent in JSON if
     * the client also accepts that, and is refused otherwise; no field is dropped.
     */
    private record ProtobufRendition(Rendition form, boolean jsonToo) implements Rendition {
        @Override
        public String watchType() {
            return KubernetesProtobuf.WATCH_TYPE;
        }

        @Override
        public Body object(StoredObject object) {
            return orJson(() -> envelope(object), () -> form.object(object));
        }

        @Override
        public Body list(ResourceKind kind, Listing listing) {
            return orJson(() -> envelope(kind, listing), () -> form.list(kind, listing));
        }

        @Override
        public Body status(ObjectNode status) {
            return Protobuf.body(Protobuf.CODEC.encode(status));
        }

        @Override
        public byte[] event(WatchEvent event) {
            try {
                return Protobuf.CODEC.frame(event.type(), envelope(event.object()));
            } catch (ProtobufFormatException e) {
                return failure(unfit(e).status());
            }
        }

        @Override
        public byte[] failure(ObjectNode status) {
            return Protobuf.CODEC.frame("ERROR", Protobuf.CODEC.encode(status));
        }

        private Body orJson(Supplier<byte[]> protobuf, Supplier<Body> json) {
            try {
                return Protobuf.body(protobuf.get());
            } catch (ProtobufFormatException e) {
                if (jsonToo) {
                    return json.get();
                }
                throw unfit(e);
            }
        }

        private static ApiFailure unfit(ProtobufFormatException e) {
            return ApiFailure.notAcceptable(
                    "the object cannot be written in protobuf, ask for application/json as well: " + e.getMessage());
        }

        private boolean metadataOnly() {
            return form instanceof Metadata;
        }

        private byte[] envelope(StoredObject object) {
            return metadataOnly() ? Protobuf.CODEC.encode(Metadata.partial(object.json())) : Protobuf.envelope(object);
        }

        private byte[] envelope(ResourceKind kind, Listing listing) {
            List<byte[]> messages = new ArrayList<>();
            for (StoredObject object : listing.objects()) {
                messages.add(
                        metadataOnly()
                                ? Protobuf.CODEC.message(Metadata.partial(object.json()))
                                : object.message(Protobuf.CODEC));
            }
            JsonNode metadata = listing.metadata();
            return metadataOnly()
                    ? Protobuf.CODEC.list(Metadata.VERSION, Metadata.LIST_KIND, metadata, messages)
                    : Protobuf.CODEC.list(kind.apiVersion(), kind.listKind(), metadata, messages);
        }
    }
}
