// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for the requests of a claim: sizes, names, shapes and selectors. */
final class RequestRules {
    static final int CONFIGS = 32;

    private static final int REQUESTS = 32;
    private static final int SUBREQUESTS = 8;
    private static final int SELECTORS = 32;
    private static final int RAW_LENGTH = 10 * 1024;
    private static final List<String> MODES = List.of("All", "ExactCount");

    private RequestRules() {}

    /** {@code allocationMode: ExactCount} and {@code count: 1} by default. */
    static void setDefaults(JsonNode claimSpec) {
        for (JsonNode request : claimSpec.path("devices").path("requests")) {
            if (request.path("exactly") instanceof ObjectNode exactly) {
                setDefaultCount(exactly);
            }
            request.path("firstAvailable")
                    .forEach(subrequest -> setDefaultCount((ObjectNode) subrequest));
        }
    }

    private static void setDefaultCount(ObjectNode request) {
        if (request.path("allocationMode").asText().isEmpty()) {
            request.put("allocationMode", "ExactCount");
        }
        if (request.path("allocationMode").asText().equals("ExactCount")
                && request.path("count").asInt() == 0) {
            request.put("count", 1);
        }
    }

    static void check(Field claimSpec, ExpressionRules expressions) {
        Field devices = claimSpec.at("devices");
        devices.at("requests").requireAtMost(REQUESTS);
        Set<String> names = new HashSet<>();
        ConstraintRules constraints = new ConstraintRules(devices.at("constraints"), expressions);
        for (Field request : devices.at("requests").items()) {
            checkRequest(request, names, constraints, expressions);
        }
        constraints.check(names);
        checkConfigs(devices.at("config"), CONFIGS);
        for (Field config : devices.at("config").items()) {
            config.at("requests").items().forEach(name -> RequestNames.requireKnown(name, names));
        }
    }

    private static void checkRequest(
            Field request,
            Set<String> names,
            ConstraintRules constraints,
            ExpressionRules expressions) {
        String name = request.at("name").text();
        checkName(request.at("name"), names);
        boolean exactly = request.value().has("exactly");
        Field alternatives = request.at("firstAvailable");
        String rule = "exactly one of `exactly` or `firstAvailable` is required";
        request.requireThat(exactly != alternatives.size() > 0, name, rule);
        if (exactly) {
            checkDevices(request.at("exactly"), expressions);
            constraints.checkDerived(request.at("exactly").at("derivedAttributes"), name);
        }
        alternatives.requireAtMost(SUBREQUESTS);
        Set<String> inside = new HashSet<>();
        for (Field alternative : alternatives.items()) {
            checkName(alternative.at("name"), inside);
            String alternativeName = name + "/" + alternative.at("name").text();
            names.add(alternativeName);
            checkDevices(alternative, expressions);
            constraints.checkDerived(alternative.at("derivedAttributes"), alternativeName);
        }
    }

    private static void checkName(Field name, Set<String> seen) {
        DeviceRules.checkDeviceName(name);
        if (!name.text().isEmpty()) {
            name.requireUnique(seen);
        }
    }

    private static void checkDevices(Field request, ExpressionRules expressions) {
        Field deviceClass = request.at("deviceClassName");
        if (deviceClass.requireText()) {
            deviceClass.requireForm(Names::dnsSubdomainProblems);
        }
        checkSelectors(request.at("selectors"), expressions);
        Field mode = request.at("allocationMode");
        Field count = request.at("count");
        mode.requireOneOf(MODES);
        if (mode.text().equals("ExactCount")) {
            count.requirePositive();
        } else if (mode.text().equals("All")) {
            long number = count.value().asLong();
            String rule = "must not be specified when allocationMode is 'All'";
            count.requireThat(number == 0, number, rule);
        }
    }

    static void checkSelectors(Field selectors, ExpressionRules expressions) {
        if (selectors.requireAtMost(SELECTORS)) {
            expressions.checkSelectors(selectors);
        }
    }

    static void checkConfigs(Field configs, int limit) {
        configs.requireAtMost(limit);
        for (Field config : configs.items()) {
            Field opaque = config.at("opaque");
            if (opaque.value().isMissingNode()) {
                opaque.required("");
            } else {
                DeviceRules.checkDriver(opaque.at("driver"));
                checkRaw(opaque.at("parameters"), true);
            }
        }
    }

    /** Raw JSON of a third party must be an object of limited size. */
    static void checkRaw(Field raw, boolean required) {
        if (raw.value().isMissingNode()) {
            if (required) {
                raw.required("");
            }
        } else if (!raw.value().isObject()) {
            raw.invalid(raw.value().toString(), "must be a valid JSON object");
        } else if (raw.value().toString().getBytes(StandardCharsets.UTF_8).length > RAW_LENGTH) {
            raw.errors().tooLong(raw.path(), RAW_LENGTH);
        }
    }
}
