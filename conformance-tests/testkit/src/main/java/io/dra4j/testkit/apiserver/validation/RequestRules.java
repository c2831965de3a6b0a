// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Rules for what a claim asks for. Sizes, names and shapes; CEL expressions are not compiled. */
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
        for (JsonNode request : Json.at(claimSpec, "devices", "requests")) {
            if (request.path("exactly") instanceof ObjectNode exactly) {
                setDefaultCount(exactly);
            }
            request.path("firstAvailable")
                    .forEach(subrequest -> setDefaultCount((ObjectNode) subrequest));
        }
    }

    private static void setDefaultCount(ObjectNode request) {
        if (Json.text(request, "allocationMode").isEmpty()) {
            request.put("allocationMode", "ExactCount");
        }
        if (Json.text(request, "allocationMode").equals("ExactCount")
                && request.path("count").asInt() == 0) {
            request.put("count", 1);
        }
    }

    static void check(JsonNode claimSpec, String path, FieldErrors errors) {
        JsonNode devices = claimSpec.path("devices");
        JsonNode requests = devices.path("requests");
        String field = path + ".devices.requests";
        if (requests.size() > REQUESTS) {
            errors.tooMany(field, requests.size(), REQUESTS);
        }
        Set<String> names = new HashSet<>();
        for (int i = 0; i < requests.size(); i++) {
            checkRequest(requests.get(i), field + "[" + i + "]", names, errors);
        }
        if (devices.path("constraints").size() > REQUESTS) {
            errors.tooMany(
                    path + ".devices.constraints", devices.path("constraints").size(), REQUESTS);
        }
        checkConfigs(devices.path("config"), path + ".devices.config", CONFIGS, errors);
        checkReferences(devices.path("config"), path + ".devices.config", names, errors);
    }

    private static void checkRequest(
            JsonNode request, String path, Set<String> names, FieldErrors errors) {
        String name = request.path("name").asText();
        checkName(name, path + ".name", names, errors);
        boolean exactly = request.has("exactly");
        JsonNode alternatives = request.path("firstAvailable");
        if (exactly == !alternatives.isEmpty()) {
            errors.invalid(path, name, "exactly one of `exactly` or `firstAvailable` is required");
        }
        if (exactly) {
            checkAsked(request.path("exactly"), path + ".exactly", errors);
        }
        if (alternatives.size() > SUBREQUESTS) {
            errors.tooMany(path + ".firstAvailable", alternatives.size(), SUBREQUESTS);
        }
        Set<String> inside = new HashSet<>();
        for (int i = 0; i < alternatives.size(); i++) {
            String entry = path + ".firstAvailable[" + i + "]";
            String subName = alternatives.get(i).path("name").asText();
            checkName(subName, entry + ".name", inside, errors);
            names.add(name + "/" + subName);
            checkAsked(alternatives.get(i), entry, errors);
        }
    }

    private static void checkName(String name, String field, Set<String> seen, FieldErrors errors) {
        DeviceRules.checkDeviceName(name, field, errors);
        if (!name.isEmpty() && !seen.add(name)) {
            errors.duplicate(field, name);
        }
    }

    private static void checkAsked(JsonNode asked, String path, FieldErrors errors) {
        String deviceClass = asked.path("deviceClassName").asText();
        if (deviceClass.isEmpty()) {
            errors.required(path + ".deviceClassName", "");
        } else if (!Names.dnsSubdomainProblem(deviceClass).isEmpty()) {
            errors.invalid(
                    path + ".deviceClassName", deviceClass, Names.dnsSubdomainProblem(deviceClass));
        }
        checkSelectors(asked.path("selectors"), path + ".selectors", errors);
        String mode = asked.path("allocationMode").asText();
        if (!MODES.contains(mode)) {
            errors.notSupported(path + ".allocationMode", mode, MODES);
        } else if (mode.equals("ExactCount") && asked.path("count").asLong() <= 0) {
            errors.invalid(
                    path + ".count", asked.path("count").asLong(), "must be greater than zero");
        } else if (mode.equals("All") && asked.path("count").asLong() != 0) {
            errors.invalid(
                    path + ".count",
                    asked.path("count").asLong(),
                    "must not be specified when allocationMode is 'All'");
        }
    }

    static void checkSelectors(JsonNode selectors, String path, FieldErrors errors) {
        if (selectors.size() > SELECTORS) {
            errors.tooMany(path, selectors.size(), SELECTORS);
        }
        for (int i = 0; i < selectors.size(); i++) {
            String expression = Json.text(selectors.get(i), "cel", "expression");
            if (expression.isEmpty()) {
                errors.required(path + "[" + i + "].cel.expression", "");
            } else if (expression.length() > RAW_LENGTH) {
                errors.tooLong(path + "[" + i + "].cel.expression", RAW_LENGTH);
            }
        }
    }

    static void checkConfigs(JsonNode configs, String path, int limit, FieldErrors errors) {
        if (configs.size() > limit) {
            errors.tooMany(path, configs.size(), limit);
        }
        for (int i = 0; i < configs.size(); i++) {
            String entry = path + "[" + i + "].opaque";
            JsonNode opaque = configs.get(i).path("opaque");
            if (opaque.isMissingNode()) {
                errors.required(entry, "");
            } else {
                DeviceRules.checkDriver(opaque.path("driver").asText(), entry + ".driver", errors);
                checkRaw(opaque, "parameters", true, entry, errors);
            }
        }
    }

    /** Raw JSON of a third party must be an object of limited size. */
    static void checkRaw(
            JsonNode parent, String name, boolean required, String path, FieldErrors errors) {
        JsonNode raw = parent.path(name);
        String field = path + "." + name;
        if (raw.isMissingNode()) {
            if (required) {
                errors.required(field, "");
            }
        } else if (!raw.isObject()) {
            errors.invalid(field, raw.toString(), "must be a valid JSON object");
        } else if (Json.bytes(raw).length > RAW_LENGTH) {
            errors.tooLong(field, RAW_LENGTH);
        }
    }

    private static void checkReferences(
            JsonNode configs, String path, Set<String> names, FieldErrors errors) {
        for (int i = 0; i < configs.size(); i++) {
            JsonNode requests = configs.get(i).path("requests");
            for (int j = 0; j < requests.size(); j++) {
                String name = requests.get(j).asText();
                if (!names.contains(name)) {
                    errors.invalid(
                            path + "[" + i + "].requests[" + j + "]",
                            name,
                            "must be the name of a request in the claim or the name of a request and a subrequest"
                                    + " separated by '/'");
                }
            }
        }
    }
}
