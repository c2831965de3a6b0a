// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/**
 * Chooses the form of a response from an Accept header: JSON, or YAML or protobuf where that stands
 * first.
 */
final class Negotiation {
    /** The forms of objects. */
    static final List<String> FORMS = List.of(Body.JSON, Body.YAML, KubernetesProtobuf.MEDIA_TYPE);

    private static final int NOT_ACCEPTABLE = 406;
    private static final List<String> STREAMS =
            List.of(Body.JSON + ";stream=watch", KubernetesProtobuf.MEDIA_TYPE + ";stream=watch");

    private Negotiation() {}

    /**
     * Refuses a request that accepts no form of its resource, whatever the parameters.
     *
     * @throws ApiFailure 406
     */
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

    /** Refuses, with 406, to watch in a form that has no streams. */
    static void requireStream(Rendition rendition) {
        if (!rendition.isStreamed()) {
            throw ApiFailure.notAcceptable(STREAMS);
        }
    }

    /**
     * The first form in the list that this server can give.
     *
     * @throws ApiFailure 406 when there is none
     */
    static Rendition choose(List<String> accepted, String includeObject, InstantSource clock) {
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
                            .map(found -> inProtobuf(found, accepted));
                }
                if (form.isPresent()) {
                    return form.get();
                }
            }
        }
        throw ApiFailure.notAcceptable(FORMS);
    }

    private static Rendition inProtobuf(Rendition form, List<String> accepted) {
        return new ProtobufRendition(form, acceptsForm(accepted, "", ""));
    }

    /** The Status of a failure; in JSON where the client accepts nothing that there is. */
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
}
