// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/**
 * Chooses the form of a response from an Accept header: JSON, or protobuf where that stands first.
 */
final class Negotiation {
    private static final int NOT_ACCEPTABLE = 406;

    private Negotiation() {}

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
            if (protobuf || isJson(type)) {
                Optional<Rendition> form = form(parameters, includeObject, clock);
                if (protobuf) {
                    form =
                            form.filter(found -> !(found instanceof TableRendition))
                                    .map(found -> inProtobuf(found, accepted));
                }
                if (form.isPresent()) {
                    return form.get();
                }
            }
        }
        throw ApiFailure.notAcceptable();
    }

    private static Rendition inProtobuf(Rendition form, List<String> accepted) {
        return new ProtobufRendition(form, acceptsForm(accepted, "", ""));
    }

    /** The Status of a failure; in JSON where the client accepts nothing that there is. */
    static Body ofFailure(List<String> accepted, ApiFailure failure) {
        boolean first =
                accepted.stream()
                        .filter(range -> !isTableInProtobuf(range))
                        .map(HttpField::stripParameters)
                        .filter(type -> isJson(type) || KubernetesProtobuf.isProtobuf(type))
                        .findFirst()
                        .filter(KubernetesProtobuf::isProtobuf)
                        .isPresent();
        return first && failure.code() != NOT_ACCEPTABLE
                ? Protobuf.body(Protobuf.CODEC.encode(failure.status()))
                : Body.json(failure.status());
    }

    private static boolean isTableInProtobuf(String range) {
        Map<String, String> parameters = new HashMap<>();
        String type = HttpField.getValueParameters(range, parameters);
        return KubernetesProtobuf.isProtobuf(type) && "Table".equals(parameters.get("as"));
    }

    private static Optional<Rendition> form(
            Map<String, String> parameters, String includeObject, InstantSource clock) {
        String as = parameters.getOrDefault("as", "");
        boolean meta =
                "meta.k8s.io".equals(parameters.get("g")) && "v1".equals(parameters.get("v"));
        if (as.isEmpty()) {
            return Optional.of(new Rendition.Plain());
        }
        if (meta && as.equals("Table")) {
            return Optional.of(new TableRendition(includeObject, clock));
        }
        return meta && as.startsWith("PartialObjectMetadata")
                ? Optional.of(new Rendition.Metadata())
                : Optional.empty();
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
