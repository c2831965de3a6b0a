// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A Lease in the cluster: what others wrote on it, labels for instance, is kept.
 *
 * @param limit for each request
 * @param last the object as it was read or written last; empty before
 */
record KubernetesLease(ApiCalls calls, String namespace, String name, Duration limit, AtomicReference<ObjectNode> last)
        implements LeaseStore {

    /** The API wants six digits of a second. */
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    @Override
    public Optional<Lease> read() {
        try {
            return Optional.of(decode(calls.read(path() + "/" + name, limit)));
        } catch (ClusterException.NotFound e) {
            last.set(Json.object());
            return Optional.empty();
        }
    }

    @Override
    public Lease write(Lease lease) {
        return lease.resourceVersion().isEmpty()
                ? decode(calls.send("POST", path(), encode(lease), limit))
                : decode(calls.send("PUT", path() + "/" + name, encode(lease), limit));
    }

    private String path() {
        return "apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases";
    }

    private ObjectNode encode(Lease lease) {
        ObjectNode object = last.get()
                .deepCopy()
                .put("apiVersion", "coordination.k8s.io/v1")
                .put("kind", "Lease");
        ObjectNode metadata = object.withObject("/metadata").put("name", name).put("namespace", namespace);
        if (!lease.resourceVersion().isEmpty()) {
            metadata.put("resourceVersion", lease.resourceVersion());
        }
        object.withObject("/spec")
                .put("holderIdentity", lease.holder())
                .put("leaseDurationSeconds", lease.duration().toSeconds())
                .put("acquireTime", MICROS.format(lease.acquired()))
                .put("renewTime", MICROS.format(lease.renewed()))
                .put("leaseTransitions", lease.transitions());
        return object;
    }

    private Lease decode(String response) {
        ObjectNode object = (ObjectNode) Json.parse(response);
        last.set(object);
        JsonNode spec = object.path("spec");
        return new Lease(
                spec.path("holderIdentity").asText(""),
                Duration.ofSeconds(spec.path("leaseDurationSeconds").asInt()),
                time(spec.path("acquireTime")),
                time(spec.path("renewTime")),
                spec.path("leaseTransitions").asInt(),
                object.at("/metadata/resourceVersion").asText());
    }

    private static Instant time(JsonNode text) {
        try {
            return Instant.parse(text.asText());
        } catch (DateTimeParseException e) {
            return Instant.EPOCH; // of another client, or none
        }
    }
}
