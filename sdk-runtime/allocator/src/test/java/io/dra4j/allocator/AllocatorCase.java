// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Random objects, with the answer of the allocator of kube-scheduler 1.36.2. */
public record AllocatorCase(JsonNode json) {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** All cases of the file. */
    public static List<AllocatorCase> all() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                new GZIPInputStream(
                        Objects.requireNonNull(AllocatorCase.class.getResourceAsStream("allocator-cases.jsonl.gz"))),
                StandardCharsets.UTF_8))) {
            return lines.lines().map(AllocatorCase::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static AllocatorCase parse(String line) {
        try {
            return new AllocatorCase(MAPPER.readTree(line));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String name() {
        return json.path("name").asText();
    }

    public JsonNode expected() {
        return json.path("expected");
    }

    public boolean listAttributes() {
        return json.path("listAttributes").asBoolean();
    }

    /** Returns whether a known bug of the release may have affected the answer. */
    public boolean isDecidedByBugs() {
        return json.has("schedulerBugs");
    }

    public FeatureGates gates() {
        return new FeatureGates(
                KubernetesVersion.V1_36, Map.of(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, listAttributes()));
    }

    public ClusterState cluster() {
        return new ClusterState(
                list("classes", DeviceClass::of),
                list("slices", Slice::of),
                list("allocatedClaims", Claim::of),
                List.of());
    }

    public Node node() {
        return Node.of(json.path("node"));
    }

    public List<Claim> claims() {
        return list("claims", Claim::of);
    }

    private <T> List<T> list(String field, Function<JsonNode, T> reader) {
        return json.path(field).valueStream().map(reader).toList();
    }

    @Override
    public String toString() {
        return name();
    }
}
