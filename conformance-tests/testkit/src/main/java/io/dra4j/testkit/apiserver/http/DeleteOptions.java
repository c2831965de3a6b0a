// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.registry.Preconditions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** The options of a deletion: those in the body, or else in the query. */
record DeleteOptions(Preconditions preconditions, boolean dryRun) {
    private static final String GRACE = "gracePeriodSeconds";
    private static final String ORPHAN = "orphanDependents";
    private static final String PROPAGATION = "propagationPolicy";
    private static final List<String> POLICIES = List.of("Foreground", "Background", "Orphan");

    private static final Map<String, Predicate<JsonNode>> TYPES = Map.of(
            GRACE,
            JsonNode::isIntegralNumber,
            ORPHAN,
            JsonNode::isBoolean,
            PROPAGATION,
            JsonNode::isTextual,
            "dryRun",
            JsonNode::isArray,
            "preconditions",
            JsonNode::isObject);

    /**
     * Reads the options of a request.
     *
     * @throws ApiFailure 400 for a query that cannot be read, 500 for a body that cannot, 422 for
     *     options that exclude each other or are unknown
     */
    static DeleteOptions of(Exchange exchange) {
        ObjectNode options = exchange.deleteOptionsBody().orElseGet(() -> ofQuery(exchange));
        options.properties().forEach(one -> requireType(one.getKey(), one.getValue()));
        FieldErrors errors = new FieldErrors();
        checkPropagation(options, errors);
        List<String> dryRun =
                options.path("dryRun").valueStream().map(JsonNode::asText).toList();
        Exchange.checkDryRun(dryRun, errors);
        if (!errors.isEmpty()) {
            throw ApiFailure.invalidOptions("DeleteOptions", errors);
        }
        return new DeleteOptions(Preconditions.of(options), !dryRun.isEmpty());
    }

    private static ObjectNode ofQuery(Exchange exchange) {
        ObjectNode options = JsonTrees.object();
        if (exchange.has(GRACE)) {
            options.put(GRACE, WatchRequest.number(exchange, GRACE));
        }
        if (exchange.has(ORPHAN)) {
            options.put(ORPHAN, exchange.flag(ORPHAN));
        }
        if (exchange.has(PROPAGATION)) {
            options.put(PROPAGATION, exchange.query(PROPAGATION));
        }
        ArrayNode dryRun = options.putArray("dryRun");
        exchange.queries("dryRun").forEach(dryRun::add);
        return options;
    }

    private static void requireType(String field, JsonNode value) {
        boolean fits = value.isNull() || TYPES.getOrDefault(field, any -> true).test(value);
        if (!fits) {
            throw ApiFailure.unexplained("json: cannot unmarshal %s into Go struct field DeleteOptions.%s"
                    .formatted(value.getNodeType().name().toLowerCase(Locale.ROOT), field));
        }
    }

    private static void checkPropagation(ObjectNode options, FieldErrors errors) {
        if (!options.hasNonNull(PROPAGATION)) {
            return;
        }
        String policy = options.path(PROPAGATION).asText();
        if (options.hasNonNull(ORPHAN)) {
            String rule = "orphanDependents and deletionPropagation cannot be both set";
            errors.invalid(PROPAGATION, policy, rule);
        }
        if (!POLICIES.contains(policy)) {
            List<String> supported = List.of("Foreground", "Background", "Orphan", "nil");
            errors.notSupported(PROPAGATION, policy, supported);
        }
    }
}
