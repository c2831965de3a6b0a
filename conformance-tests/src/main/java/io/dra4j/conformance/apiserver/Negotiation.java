// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.apiserver;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/**
 * Chooses the form of an answer from an Accept header. Protobuf is never chosen: the list's next
 * type is.
 */
final class Negotiation {
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
            if (isJson(type)) {
                Optional<Rendition> form = form(parameters, includeObject, clock);
                if (form.isPresent()) {
                    return form.get();
                }
            }
        }
        throw ApiFailure.notAcceptable();
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

    /** Whether the list has plain JSON, or JSON in that very form. */
    static boolean acceptsForm(List<String> accepted, String as, String version) {
        for (String range : accepted) {
            Map<String, String> parameters = new HashMap<>();
            if (isJson(HttpField.getValueParameters(range, parameters))) {
                boolean wanted =
                        as.equals(parameters.getOrDefault("as", ""))
                                && (as.isEmpty() || version.equals(parameters.get("v")));
                if (wanted) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isJson(String type) {
        return type.equals(Exchange.JSON) || type.equals("application/*") || type.equals("*/*");
    }
}
