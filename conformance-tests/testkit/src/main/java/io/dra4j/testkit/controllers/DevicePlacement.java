// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.Allocation;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decides by the rules of the scheduler which devices claims get on a node. */
final class DevicePlacement {

    private static final int ALTERNATIVES = 8;

    private final ClusterObjects objects;
    private final Allocator allocator;
    private final AllocationWriter allocations;

    DevicePlacement(EmbeddedApiServer api, InstantSource clock) {
        objects = api.store();
        allocator = Allocator.of(api.featureGates());
        allocations = new AllocationWriter(name -> objects.find("deviceclasses", "", name), api.featureGates(), clock);
    }

    /** Tries a node for the claims of a pod that are not allocated yet. */
    Fit fit(JsonNode node, List<ClaimView> claims) {
        List<Claim> wanted =
                claims.stream().map(claim -> Claim.of(claim.json())).toList();
        Outcome outcome = allocator.allocate(cluster(), Node.of(node), wanted);
        if (outcome instanceof Outcome.Allocated allocated) {
            return fits(claims, allocated.allocations());
        }
        return outcome instanceof Outcome.DoesNotFit not
                ? new Fit.DoesNot(not.message(), details(not))
                : new Fit.Failed(((Outcome.Failed) outcome).message());
    }

    private static String details(Outcome.DoesNotFit not) {
        return not.requests().stream()
                .map(one -> "claim " + one.claim() + ", " + one.text())
                .collect(Collectors.joining("; "));
    }

    private ClusterState cluster() {
        return new ClusterState(
                all("deviceclasses", DeviceClass::of),
                all("resourceslices", Slice::of),
                all(ClaimView.RESOURCE, io.dra4j.allocator.model.Claim::of),
                objects.serves(TaintEvictions.RULES) ? all(TaintEvictions.RULES, TaintRule::of) : List.of());
    }

    private <T> List<T> all(String resource, Function<JsonNode, T> form) {
        return objects.list(resource).stream().map(form).toList();
    }

    private Fit fits(List<ClaimView> claims, List<Allocation> allocated) {
        List<ObjectNode> written = new ArrayList<>();
        int score = 0;
        for (int i = 0; i < claims.size(); i++) {
            written.add(allocations.of(claims.get(i).json(), allocated.get(i)));
            score += score(claims.get(i), written.get(i));
        }
        return new Fit.Fits(written, score);
    }

    /** The first alternative scores eight, each further one a point less. */
    private static int score(ClaimView claim, JsonNode allocation) {
        int score = 0;
        for (JsonNode request : claim.json().at("/spec/devices/requests")) {
            int index = 0;
            for (JsonNode alternative : request.path("firstAvailable")) {
                String name = request.path("name").asText() + "/"
                        + alternative.path("name").asText();
                if (results(allocation)
                        .anyMatch(one -> one.path("request").asText().equals(name))) {
                    score += ALTERNATIVES - index;
                }
                index++;
            }
        }
        return score;
    }

    private static Stream<JsonNode> results(JsonNode allocation) {
        return allocation.at("/devices/results").valueStream();
    }

    /** The result of trying a node. */
    sealed interface Fit {

        /** The claims fit, with these allocations in their order; a higher score of the alternatives is better. */
        record Fits(List<ObjectNode> allocations, int score) implements Fit {}

        /** The claims do not fit; the details have the obstacle of each request. */
        record DoesNot(String reason, String details) implements Fit {}

        /** An error, which fails the attempt on all nodes. */
        record Failed(String error) implements Fit {}
    }
}
