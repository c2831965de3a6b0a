// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The nodes of devices, to JSON and back: the API requires exactly one of four fields. */
final class PlacementCodec {

    // All requirements must hold, in any order.
    private static final Comparator<Requirement> BY_REQUIREMENT = Comparator.comparing(Requirement::subject)
            .thenComparing(Requirement::key)
            .thenComparing(Requirement::operator)
            .thenComparing(requirement -> String.join(",", requirement.values()));

    private PlacementCodec() {}

    static void putPool(ObjectNode spec, Placement placement, String node) {
        if (placement instanceof Placement.ThisNode) {
            spec.put("nodeName", node);
        } else if (placement instanceof Placement.PerDevice) {
            spec.put("perDeviceNodeSelection", true);
        } else if (!putShared(spec, placement)) {
            throw new IllegalArgumentException("Placement is not for pools: " + placement);
        }
    }

    static void putDevice(ObjectNode device, Placement placement) {
        if (placement instanceof Placement.NamedNode named) {
            device.put("nodeName", named.name());
        } else if (!putShared(device, placement)) {
            throw new IllegalArgumentException("Device %s: placement is not for devices: %s"
                    .formatted(device.path("name").asText(), placement));
        }
    }

    private static boolean putShared(ObjectNode json, Placement placement) {
        if (placement instanceof Placement.AllNodes) {
            json.put("allNodes", true);
        } else if (placement instanceof Placement.MatchingNodes matching) {
            json.set("nodeSelector", selector(matching.selector()));
        } else {
            return false;
        }
        return true;
    }

    static Placement ofPool(JsonNode spec) {
        if (spec.path("perDeviceNodeSelection").asBoolean(false)) {
            return new Placement.PerDevice();
        }
        Placement shared = shared(spec);
        return shared == null ? new Placement.ThisNode() : shared;
    }

    static @Nullable Placement ofDevice(JsonNode device) {
        return device.path("nodeName").isTextual()
                ? new Placement.NamedNode(device.path("nodeName").asText())
                : shared(device);
    }

    private static @Nullable Placement shared(JsonNode json) {
        if (json.path("allNodes").asBoolean(false)) {
            return new Placement.AllNodes();
        }
        JsonNode selector = json.path("nodeSelector");
        return selector.isObject() ? new Placement.MatchingNodes(selector(selector)) : null;
    }

    private static ObjectNode selector(NodeSelector selector) {
        ObjectNode json = Json.object();
        ObjectNode term = json.putArray("nodeSelectorTerms").addObject();
        Json.putList(term, "matchExpressions", of(selector, Subject.LABEL), PlacementCodec::requirement);
        Json.putList(term, "matchFields", of(selector, Subject.FIELD), PlacementCodec::requirement);
        return json;
    }

    private static List<Requirement> of(NodeSelector selector, Subject subject) {
        return selector.requirements().stream()
                .filter(r -> r.subject() == subject)
                .toList();
    }

    private static ObjectNode requirement(Requirement requirement) {
        ObjectNode json = Json.object()
                .put("key", requirement.key())
                .put("operator", requirement.operator().apiName());
        Json.putStrings(json, "values", requirement.values());
        return json;
    }

    private static NodeSelector selector(JsonNode json) {
        JsonNode terms = json.path("nodeSelectorTerms");
        if (terms.size() != 1) {
            throw new IllegalArgumentException("A node selector with " + terms.size() + " terms");
        }
        List<Requirement> requirements = new ArrayList<>();
        terms.get(0).path("matchExpressions").forEach(r -> requirements.add(requirement(r, Subject.LABEL)));
        terms.get(0).path("matchFields").forEach(r -> requirements.add(requirement(r, Subject.FIELD)));
        requirements.sort(BY_REQUIREMENT);
        return new NodeSelector(requirements);
    }

    private static Requirement requirement(JsonNode json, Subject subject) {
        String operator = json.path("operator").asText();
        return new Requirement(
                json.path("key").asText(),
                Stream.of(Operator.values())
                        .filter(known -> known.apiName().equals(operator))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("Unknown operator " + operator)),
                Json.sortedStrings(json.path("values")),
                subject);
    }
}
