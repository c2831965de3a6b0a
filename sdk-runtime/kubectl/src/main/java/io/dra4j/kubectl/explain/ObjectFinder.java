// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ReadException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Objects by name: those of a file that is not applied yet, then those of the cluster.
 *
 * @param version the version of the claims' API that the server prefers
 * @param file the objects of the file; none if there is no file
 */
record ObjectFinder(ApiReader api, String version, List<JsonNode> file) {

    Optional<JsonNode> pod(String namespace, String name) {
        return api.find(path("api/v1/namespaces/%s/pods/%s", namespace, name));
    }

    Optional<JsonNode> claim(String namespace, String name) {
        return find("ResourceClaim", "resourceclaims", namespace, name);
    }

    Optional<JsonNode> template(String namespace, String name) {
        return find("ResourceClaimTemplate", "resourceclaimtemplates", namespace, name);
    }

    private Optional<JsonNode> find(String kind, String plural, String namespace, String name) {
        Optional<JsonNode> ofFile = file.stream()
                .filter(one -> one.path("kind").asText().equals(kind))
                .filter(one -> one.at("/metadata/name").asText().equals(name))
                .filter(one -> one.at("/metadata/namespace").asText(namespace).equals(namespace))
                .findFirst();
        return ofFile.or(() -> api.find("apis/" + version + path("/namespaces/%s/%s/%s", namespace, plural, name)));
    }

    /** Names come from users and manifests, and may not be names at all. */
    private static String path(String format, String... parts) {
        return format.formatted(Stream.of(parts).map(ApiReader::encoded).toArray());
    }

    /** The pods of a node; empty if they may not be read. */
    Optional<List<JsonNode>> podsOf(String node) {
        String fields = ApiReader.encoded("spec.nodeName=" + node);
        return listed("api/v1/pods?fieldSelector=" + fields);
    }

    /** The names of a namespace's claims or templates; empty if they may not be read. */
    Optional<List<String>> names(String plural, String namespace) {
        return listed("apis/" + version + path("/namespaces/%s/%s", namespace, plural))
                .map(all -> all.stream()
                        .map(one -> one.at("/metadata/name").asText())
                        .toList());
    }

    private Optional<List<JsonNode>> listed(String path) {
        List<JsonNode> all = new ArrayList<>();
        try {
            api.list(path, all::add);
        } catch (ReadException e) {
            return Optional.empty(); // only needed for hints, not for the answer
        }
        return Optional.of(all);
    }

    /** The Events of a pod, in the order of the server; empty if they may not be read. */
    Optional<List<JsonNode>> events(String namespace, String pod) {
        String fields = "involvedObject.kind=Pod,involvedObject.name=" + pod;
        return listed(path("api/v1/namespaces/%s/events?fieldSelector=%s", namespace, fields));
    }
}
