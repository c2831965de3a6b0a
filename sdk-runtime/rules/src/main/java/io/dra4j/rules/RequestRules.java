// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** Rules for the requests of a claim, and for their alternatives. */
record RequestRules(ConstraintRules constraints, ExpressionRules expressions, AttributeKeys names) {
    private static final int REQUESTS = 32;
    private static final int SUBREQUESTS = 8;
    private static final int SELECTORS = 32;
    private static final List<String> MODES = List.of("All", "ExactCount");

    /** {@code allocationMode: ExactCount} and {@code count: 1} by default. */
    static void setDefaults(JsonNode claimSpec) {
        for (JsonNode request : claimSpec.path("devices").path("requests")) {
            setDefaultsOf(request.path("exactly"));
            request.path("firstAvailable").forEach(RequestRules::setDefaultsOf);
        }
    }

    private static void setDefaultsOf(JsonNode devices) {
        if (devices instanceof ObjectNode request) {
            setDefaultCount(request);
            TolerationRules.setDefaults(request.path("tolerations"));
        }
    }

    private static void setDefaultCount(ObjectNode request) {
        if (request.path("allocationMode").asText().isEmpty()) {
            request.put("allocationMode", "ExactCount");
        }
        if (request.path("allocationMode").asText().equals("ExactCount")
                && request.path("count").asLong() == 0) {
            request.put("count", 1);
        }
    }

    void check(Field requests) {
        if (requests.requireAtMost(REQUESTS)) {
            requests.items().forEach(this::checkRequest);
            requests.requireUniqueItems(request -> request.at("name").text());
        }
    }

    private void checkRequest(Field request) {
        DeviceRules.checkDeviceName(request.at("name"));
        Field exactly = request.at("exactly");
        Field alternatives = request.at("firstAvailable");
        String rule = "exactly one of `exactly` or `firstAvailable` is required";
        if (exactly.present() && alternatives.size() > 0) {
            request.invalidNull(rule + ", but multiple fields are set");
        } else if (exactly.present()) {
            checkDevices(exactly, request.at("name").text());
        } else if (alternatives.size() > 0) {
            checkAlternatives(alternatives, request.at("name").text());
        } else {
            request.required(rule);
        }
    }

    private void checkAlternatives(Field alternatives, String request) {
        if (!alternatives.requireAtMost(SUBREQUESTS)) {
            return;
        }
        for (Field alternative : alternatives.items()) {
            Field name = alternative.at("name");
            DeviceRules.checkDeviceName(name);
            checkDevices(alternative, request + "/" + name.text());
        }
        alternatives.requireUniqueItems(alternative -> alternative.at("name").text());
    }

    /**
     * @param name the name that constraints use for the request or the alternative
     */
    private void checkDevices(Field request, String name) {
        Field deviceClass = request.at("deviceClassName");
        if (deviceClass.requireText()) {
            deviceClass.requireForm(Names::dnsSubdomainProblems);
        }
        checkSelectors(request.at("selectors"), expressions);
        constraints.checkDerived(request.at("derivedAttributes"), name);
        checkCount(request.at("allocationMode"), request.at("count"));
        request.at("tolerations").items().forEach(TolerationRules::check);
        Field amounts = request.at("capacity").at("requests");
        amounts.keys().forEach(key -> names.checkLate(key, amounts));
    }

    private static void checkCount(Field mode, Field count) {
        long number = count.value().asLong();
        if (mode.text().equals("ExactCount")) {
            count.requirePositive();
        } else if (mode.text().equals("All")) {
            String rule = "must not be specified when allocationMode is 'All'";
            count.requireThat(number == 0, number, rule);
        } else {
            mode.requireOneOf(MODES);
        }
    }

    static void checkSelectors(Field selectors, ExpressionRules expressions) {
        if (selectors.requireAtMost(SELECTORS)) {
            expressions.checkSelectors(selectors);
        }
    }
}
