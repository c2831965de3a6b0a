// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.rbac.ApiAction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One verb of the library chart's {@code files/rights.yaml}.
 *
 * @param group the API group; empty for the core group
 * @param resource the resource, with its subresource
 * @param verb for example {@code list}
 * @param namespace the namespace in which it holds; empty for everywhere, {@code release} for that of the installation
 * @param part the part of the driver that needs it, or a process of the cluster: {@link #CLAIM_METRICS} or
 *     {@link #CONTROLLER}
 * @param optional whether the driver publishes and prepares without it
 * @param why the driver needs it
 * @param without what is lost
 */
public record Right(
        String group,
        String resource,
        String verb,
        String namespace,
        String part,
        boolean optional,
        String why,
        String without) {

    /** The library chart, from a driver's module. */
    public static final Path LIBRARY = Path.of("../sdk-runtime/deploy/helm/dra4j-library");

    /** The process of the cluster that serves metrics of waiting claims. */
    public static final String CLAIM_METRICS = "claim-metrics";

    /** The process of the cluster that publishes pools of several nodes. */
    public static final String CONTROLLER = "controller";

    /** Forbidden, and invalid for lack of a verb that the validation requires. */
    private static final Set<Integer> REFUSED = Set.of(403, 422);

    /** The rights of the driver on a node. */
    public static List<Right> ofTheDriver() {
        return all().stream()
                .filter(right -> !List.of(CLAIM_METRICS, CONTROLLER).contains(right.part()))
                .toList();
    }

    /** The rights of a process of the cluster. */
    public static List<Right> of(String part) {
        return all().stream().filter(right -> right.part().equals(part)).toList();
    }

    /** All rights. */
    public static List<Right> all() {
        List<Right> rights = new ArrayList<>();
        for (JsonNode one : Manifests.file(LIBRARY.resolve("files/rights.yaml"))) {
            for (JsonNode verb : one.path("verbs")) {
                rights.add(new Right(
                        one.path("apiGroup").asText(),
                        one.path("resource").asText(),
                        verb.path("verb").asText(),
                        one.path("namespace").asText(""),
                        verb.path("for").asText(),
                        verb.path("optional").asBoolean(),
                        verb.path("why").asText(),
                        verb.path("without").asText()));
            }
        }
        return rights;
    }

    /** Returns the rights that roles grant, as {@code group/resource verb}. */
    public static List<String> granted(List<ObjectNode> roles) {
        List<String> granted = new ArrayList<>();
        for (ObjectNode role : roles) {
            for (JsonNode rule : role.path("rules")) {
                String what = rule.at("/apiGroups/0").asText() + "/"
                        + rule.at("/resources/0").asText();
                rule.path("verbs").forEach(verb -> granted.add(what + " " + verb.asText()));
            }
        }
        return granted;
    }

    /** Returns the rights for lack of which an API server refused requests, in the same form. */
    static List<String> refused(ApiProxy proxy) {
        return proxy.requests(request -> REFUSED.contains(request.status())).stream()
                .map(request -> ApiAction.of(request.method(), request.path(), request.query()))
                .map(action -> action.group() + "/" + action.resource() + " " + action.verb())
                .distinct()
                .toList();
    }

    /** Removes this right from roles; returns whether any had it. */
    public boolean removeFrom(List<ObjectNode> roles) {
        boolean removed = false;
        for (ObjectNode role : roles) {
            for (JsonNode rule : role.path("rules")) {
                if (rule.at("/apiGroups/0").asText().equals(group)
                        && rule.at("/resources/0").asText().equals(resource)
                        && rule.path("verbs") instanceof ArrayNode verbs) {
                    int before = verbs.size();
                    verbs.removeIf(one -> one.asText().equals(verb));
                    removed |= verbs.size() < before;
                }
            }
        }
        return removed;
    }

    /** The right in the form of {@link #granted}. */
    @Override
    public String toString() {
        return group + "/" + resource + " " + verb;
    }
}
