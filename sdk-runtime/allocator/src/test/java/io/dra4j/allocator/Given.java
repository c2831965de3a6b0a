// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.TaintRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Objects of a small cluster, written as JSON with single quotes; its node is {@code n}. */
public final class Given {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
            .enable(JsonReadFeature.ALLOW_UNQUOTED_FIELD_NAMES)
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .build();

    /** The node that claims are allocated on. */
    public static final Node NODE = new Node("n", Map.of());

    private final List<Slice> slices = new ArrayList<>();
    private final List<Claim> held = new ArrayList<>();
    private final List<Claim> claims = new ArrayList<>();
    private final List<TaintRule> rules = new ArrayList<>();

    /** Reads an object. */
    public static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** Adds the only slice of pool {@code p} for the node, with these devices. */
    public Given devices(String devices) {
        return slice("p", 1, "nodeName: 'n', devices: [" + devices + "]");
    }

    /** Adds a slice of the driver {@code drv.example}; its name is in the order of the calls. */
    public Given slice(String pool, int count, String fields) {
        return slice("drv.example", pool, count, fields);
    }

    /** Adds a slice of a driver. */
    public Given slice(String driver, String pool, int count, String fields) {
        slices.add(Slice.of(json(
                "{metadata: {name: 's%02d'}, spec: {driver: '%s', pool: {name: '%s', generation: 1, resourceSliceCount: %d}, %s}}"
                        .formatted(slices.size(), driver, pool, count, fields))));
        return this;
    }

    /** Adds a claim that has a device of pool {@code p}. */
    public Given held(String device, String fields) {
        held.add(Claim.of(json(
                "{metadata: {name: 'h%d', namespace: 'ns'}, status: {allocation: {devices: {results: [{driver: 'drv.example', pool: 'p', device: '%s' %s}]}}}}"
                        .formatted(held.size(), device, fields))));
        return this;
    }

    /** Adds a rule that taints devices, by its spec. */
    public Given rule(String spec) {
        rules.add(TaintRule.of(json("{metadata: {name: 'x'}, spec: " + spec + "}")));
        return this;
    }

    /** Adds a claim with one request {@code r} of class {@code c}. */
    public Given claim(String exactly) {
        return requests("{name: 'r', exactly: {deviceClassName: 'c', " + exactly + "}}", "");
    }

    /** Adds a claim. */
    public Given requests(String requests, String constraints) {
        claims.add(Claim.of(
                json("{metadata: {name: 'c%d', namespace: 'ns'}, spec: {devices: {requests: [%s], constraints: [%s]}}}"
                        .formatted(claims.size(), requests, constraints))));
        return this;
    }

    /** The cluster, with the class {@code c} of all devices. */
    public ClusterState cluster() {
        return new ClusterState(List.of(new DeviceClass("c", List.of())), slices, held, rules);
    }

    /** The claims to allocate. */
    public List<Claim> claims() {
        return claims;
    }

    /** Allocates the claims. */
    public Outcome allocate(Allocator allocator) {
        return allocator.allocate(cluster(), NODE, claims);
    }

    /** The devices of all claims, in their order; none if they do not fit. */
    public static List<String> devices(Outcome outcome) {
        return outcome instanceof Outcome.Allocated allocated
                ? allocated.allocations().stream()
                        .flatMap(one -> one.results().stream())
                        .map(one -> one.device().device())
                        .toList()
                : List.of();
    }
}
