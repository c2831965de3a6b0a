// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.AllocatedDevice;
import io.dra4j.allocator.Allocation;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes allocations as the scheduler does: devices, and the configurations that apply to them. Thread-safe.
 *
 * @param classes finds the DeviceClass with a name
 */
public record AllocationWriter(Function<String, Optional<JsonNode>> classes, FeatureGates gates, InstantSource clock) {

    private static final String REQUESTS = "requests";

    /** Begins a claim of one request, which has no name yet. */
    public static ObjectNode claim(String request, String deviceClass) {
        ObjectNode claim =
                JsonTrees.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        ObjectNode one = claim.withArray("/spec/devices/requests").addObject().put("name", request);
        one.putObject("exactly").put("deviceClassName", deviceClass);
        return claim;
    }

    /** Returns the first request of a claim, with the first of its alternatives if it has some. */
    public static String firstRequest(JsonNode claim) {
        JsonNode first = claim.at("/spec/devices/requests/0");
        String name = first.path("name").asText();
        JsonNode alternative = first.at("/firstAvailable/0/name");
        return alternative.isMissingNode() ? name : name + "/" + alternative.asText();
    }

    /** Finds the slice that has a device. */
    public static Optional<JsonNode> sliceWith(String device, Stream<JsonNode> slices) {
        return slices.filter(slice -> slice.at("/spec/devices")
                        .valueStream()
                        .anyMatch(one -> one.path("name").asText().equals(device)))
                .findFirst();
    }

    /** Returns the {@code status.allocation} of a claim. */
    public ObjectNode of(JsonNode claim, Allocation allocation) {
        List<ObjectNode> results = allocation.results().stream()
                .map(device -> result(claim, device))
                .toList();
        return of(claim, results, allocation.nodes());
    }

    /** Returns the {@code status.allocation} of a claim with these results. */
    public ObjectNode of(JsonNode claim, List<ObjectNode> results, @Nullable NodeSelector nodes) {
        ObjectNode written = JsonTrees.object();
        written.putObject("devices").putArray("results").addAll(results);
        Set<String> requests = new LinkedHashSet<>();
        results.forEach(result -> requests.add(result.path("request").asText()));
        ArrayNode configs = JsonTrees.child(written, "devices").putArray("config");
        addOfClasses(claim, requests, configs);
        addOfClaim(claim, requests, configs);
        if (clearsRequests()) {
            int all = claim.at("/spec/devices/requests").size();
            configs.forEach(config -> {
                if (applied(config, requests).size() == all) {
                    ((ObjectNode) config).remove(REQUESTS);
                }
            });
        }
        if (nodes != null) {
            written.set("nodeSelector", selector(nodes));
        }
        if (gates.enabled(FeatureGate.DRA_DEVICE_BINDING_CONDITIONS)) {
            String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
            written.put("allocationTimestamp", now);
        }
        return written;
    }

    /**
     * Returns the result of a device that a test has chosen, in the form that the scheduler writes:
     * selectors, taints and devices of other claims are ignored.
     *
     * @param request the name of a request of the claim, with the subrequest's name after a slash
     * @param slice the slice that has the device
     */
    public ObjectNode chosen(JsonNode claim, String request, JsonNode slice, String device) {
        Slice published = Slice.of(slice);
        Device found = published.devices().stream()
                .filter(one -> one.name().equals(device))
                .findFirst()
                .orElseThrow();
        return result(
                claim,
                AllocatedDevice.chosen(
                        gates, io.dra4j.allocator.model.Claim.of(claim), request, published.id(found), found));
    }

    private ObjectNode result(JsonNode claim, AllocatedDevice device) {
        ObjectNode result = JsonTrees.object()
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

    /** The request of a name, or the alternative whose name follows a slash. */
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

    /** Returns whether each configuration is written once, and lists no requests if it applies to all (#139731, #139732). */
    private boolean clearsRequests() {
        return gates.version().atLeast(KubernetesVersion.V1_37);
    }

    private void addOfClasses(JsonNode claim, Set<String> requests, ArrayNode configs) {
        Map<String, List<String>> byClass = requests.stream()
                .collect(Collectors.groupingBy(
                        request -> asked(claim, request).path("deviceClassName").asText(),
                        LinkedHashMap::new,
                        Collectors.toList()));
        byClass.forEach((name, users) -> {
            JsonNode ofClass =
                    classes.apply(name).map(one -> one.at("/spec/config")).orElseGet(configs::missingNode);
            for (JsonNode config : ofClass) {
                ObjectNode copy = configs.addObject().put("source", "FromClass");
                addAll(users, copy.putArray(REQUESTS));
                copy.setAll((ObjectNode) config.deepCopy());
            }
        });
    }

    private void addOfClaim(JsonNode claim, Set<String> requests, ArrayNode configs) {
        for (JsonNode config : claim.at("/spec/devices/config")) {
            int applied = config.path(REQUESTS).isEmpty()
                    ? 1
                    : applied(config, requests).size();
            for (int i = 0; i < (clearsRequests() ? Math.min(applied, 1) : applied); i++) {
                configs.addObject().put("source", "FromClaim").setAll((ObjectNode) config.deepCopy());
            }
        }
    }

    /** Returns the requests that a configuration names, which may name a request for each of its alternatives. */
    private static List<String> applied(JsonNode config, Set<String> requests) {
        Set<String> named =
                config.path(REQUESTS).valueStream().map(JsonNode::asText).collect(Collectors.toSet());
        return requests.stream()
                .filter(one -> named.contains(one) || named.contains(one.replaceFirst("/.*", "")))
                .toList();
    }

    private static ObjectNode selector(NodeSelector selector) {
        ObjectNode written = JsonTrees.object();
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
