// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A verb that every driver needs, of the file that the charts make their roles of.
 *
 * @param group the API group; empty for the core group
 * @param resource with its subresource
 * @param verb such as {@code list}
 * @param namespace in which it holds; empty for everywhere
 * @param optional whether the driver publishes and prepares without it
 * @param without what is lost
 */
record Right(String group, String resource, String verb, String namespace, boolean optional, String without) {

    private static final List<String> PARTS = List.of("always", "events");

    /** Those of all drivers; what parts need that a driver may not have is left out. */
    static List<Right> ofAllDrivers() {
        List<Right> rights = new ArrayList<>();
        for (JsonNode one : file()) {
            for (JsonNode verb : one.path("verbs")) {
                if (PARTS.contains(verb.path("for").asText())) {
                    rights.add(new Right(
                            one.path("apiGroup").asText(),
                            one.path("resource").asText(),
                            verb.path("verb").asText(),
                            one.path("namespace").asText(),
                            verb.path("optional").asBoolean(),
                            verb.path("without").asText()));
                }
            }
        }
        return rights;
    }

    private static JsonNode file() {
        try (InputStream file = Right.class.getResourceAsStream("rights.yaml")) {
            return new YAMLMapper().readTree(Objects.requireNonNull(file, "rights.yaml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The resource as kubectl names it. */
    String name() {
        return group.isEmpty() ? resource : resource + "." + group;
    }
}
