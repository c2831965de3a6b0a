// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.AllocatedDevice;
import io.dra4j.allocator.Allocation;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.testkit.apiserver.model.Json;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Writes allocations as the scheduler does: devices, and the configurations that apply to them.
 * Thread-safe.
 */
public final class Allocations {

    private static final String REQUESTS = "requests";

    private final Function<String, Optional<JsonNode>> classes;
    private final FeatureGates gates;
    private final InstantSource clock;

    /**
     * @param classes the DeviceClass of a name
     */
    public Allocations(Function<String, Optional<JsonNode>> classes, FeatureGates gates, InstantSource clock) {
        this.classes = classes;
        this.gates = gates;
        this.clock = clock;
    }

    /** Returns the {@code status.allocation} of a claim. */
    public ObjectNode of(JsonNode claim, Allocation allocation) {
        ObjectNode written = Json.object();
        ArrayNode results = written.putObject("devices").putArray("results");
        Set<String> requests = new LinkedHashSet<>();
        for (AllocatedDevice device : allocation.results()) {
            requests.add(device.request());
            results.add(result(claim, device));
        }
        ArrayNode configs = Json.child(written, "devices").putArray("config");
        requests.forEach(request -> addOfClass(claim, request, configs));
        addOfClaim(claim, requests, configs);
        if (allocation.nodes() != null) {
            written.set("nodeSelector", selector(allocation.nodes()));
        }
        if (gates.enabled(FeatureGate.DRA_DEVICE_BINDING_CONDITIONS)) {
            String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
            written.put("allocationTimestamp", now);
        }
        return written;
    }

    private ObjectNode result(JsonNode claim, AllocatedDevice device) {
        ObjectNode result = Json.object()
                .put("request", device.request())
                .put("driver", device.device().driver())
                .put("pool", device.device().pool())
                .put("device", device.device().device());
        if (device.adminAccess()) {
            result.put("adminAccess", true);
        }
        if (asked(claim, device.request()).get("tolerations") instanceof ArrayNode tolerations) {
            result.set("tolerations", tolerations.deepCopy());
        }
        if (!device.bindingConditions().isEmpty()) {
            addAll(device.bindingConditions(), result.putArray("bindingConditions"));
            addAll(device.bindingFailureConditions(), result.putArray("bindingFailureConditions"));
        }
        if (device.shared()) {
            result.put("shareID", UUID.randomUUID().toString());
            ObjectNode consumed = result.putObject("consumedCapacity");
            device.consumedCapacity().forEach((name, amount) -> consumed.put(name, amount.toString()));
        }
        return result;
    }

    private static void addAll(List<String> texts, ArrayNode array) {
        texts.forEach(array::add);
    }

    /** The request of a name, or the alternative of a name behind a slash. */
    private static JsonNode asked(JsonNode claim, String name) {
        for (JsonNode request : claim.at("/spec/devices/requests")) {
            String own = request.path("name").asText();
            if (own.equals(name)) {
                return request.path("exactly");
            }
            for (JsonNode alternative : request.path("firstAvailable")) {
                if (name.equals(own + "/" + alternative.path("name").asText())) {
                    return alternative;
                }
            }
        }
        throw new IllegalStateException("Claim " + claim.at("/metadata/name").asText() + " has no request " + name);
    }

    private void addOfClass(JsonNode claim, String request, ArrayNode configs) {
        String name = asked(claim, request).path("deviceClassName").asText();
        JsonNode ofClass =
                classes.apply(name).map(one -> one.at("/spec/config")).orElseGet(configs::missingNode);
        for (JsonNode config : ofClass) {
            ObjectNode copy = configs.addObject().put("source", "FromClass");
            copy.putArray(REQUESTS).add(request);
            copy.setAll((ObjectNode) config.deepCopy());
        }
    }

    private static void addOfClaim(JsonNode claim, Set<String> requests, ArrayNode configs) {
        for (JsonNode config : claim.at("/spec/devices/config")) {
            Stream<JsonNode> named = config.path(REQUESTS).valueStream();
            if (config.path(REQUESTS).isEmpty() || named.anyMatch(one -> isAllocated(one.asText(), requests))) {
                configs.addObject().put("source", "FromClaim").setAll((ObjectNode) config.deepCopy());
            }
        }
    }

    /** A request's name stands for each of its alternatives. */
    private static boolean isAllocated(String name, Set<String> requests) {
        return requests.stream().anyMatch(one -> one.equals(name) || one.startsWith(name + "/"));
    }

    private static ObjectNode selector(NodeSelector selector) {
        ObjectNode written = Json.object();
        ArrayNode terms = written.putArray("nodeSelectorTerms");
        for (NodeSelector.Term term : selector.terms()) {
            ObjectNode one = terms.addObject();
            add(term.labels(), "matchExpressions", one);
            add(term.fields(), "matchFields", one);
        }
        return written;
    }

    private static void add(List<NodeSelector.Requirement> requirements, String field, ObjectNode term) {
        for (NodeSelector.Requirement requirement : requirements) {
            ObjectNode one = term.withArray(field)
                    .addObject()
                    .put("key", requirement.key())
                    .put("operator", requirement.operator());
            if (!requirement.values().isEmpty()) {
                addAll(requirement.values(), one.putArray("values"));
            }
        }
    }
}
