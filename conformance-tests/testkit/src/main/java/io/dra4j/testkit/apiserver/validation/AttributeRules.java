// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/** Rules for device attributes, and for the keys that attributes and capacities share. */
final class AttributeRules {
    private static final List<String> SCALARS = List.of("int", "bool", "string", "version");
    private static final List<String> LISTS = List.of("ints", "bools", "strings", "versions");
    private static final int TEXT_LENGTH = 64;
    private static final int ID_LENGTH = 32;
    private static final int DOMAIN_LENGTH = 63;

    /** Semantic Versioning 2.0.0, without the optional leading v. */
    private static final Pattern SEMVER =
            Pattern.compile(
                    "(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)"
                            + "(-(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)(\\.(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
                            + "(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?");

    private AttributeRules() {}

    static boolean hasList(JsonNode attributes) {
        for (JsonNode attribute : attributes) {
            if (LISTS.stream().anyMatch(field -> !attribute.path(field).isEmpty())) {
                return true;
            }
        }
        return false;
    }

    static void check(JsonNode attributes, String path, int maxValues, FieldErrors errors) {
        int values = 0;
        for (var attribute : attributes.properties()) {
            checkKey(attribute.getKey(), path, errors);
            checkValue(attribute.getValue(), path + "[" + attribute.getKey() + "]", errors);
            values += count(attribute.getValue());
        }
        if (values > maxValues) {
            errors.tooMany(path, values, maxValues);
        }
    }

    private static int count(JsonNode attribute) {
        int values = 0;
        for (JsonNode value : attribute) {
            values += value.isArray() ? value.size() : 1;
        }
        return values;
    }

    /** A C identifier, or a domain, a slash and a C identifier. */
    static void checkKey(String key, String path, FieldErrors errors) {
        int slash = key.indexOf('/');
        if (slash >= 0) {
            checkDomain(key.substring(0, slash), path, errors);
        }
        String id = key.substring(slash + 1);
        if (id.isEmpty()) {
            errors.required(path, "the name must not be empty");
        } else if (id.length() > ID_LENGTH) {
            errors.tooLong(path, ID_LENGTH);
        } else if (!Names.cIdentifierProblem(id).isEmpty()) {
            errors.invalid(path, id, Names.cIdentifierProblem(id));
        }
    }

    private static void checkDomain(String domain, String path, FieldErrors errors) {
        if (domain.isEmpty()) {
            errors.required(path, "the domain must not be empty");
        } else if (domain.length() > DOMAIN_LENGTH) {
            errors.tooLong(path, DOMAIN_LENGTH);
        } else if (!Names.driverProblem(domain).isEmpty()) {
            errors.invalid(path, domain, Names.driverProblem(domain));
        }
    }

    private static void checkValue(JsonNode attribute, String path, FieldErrors errors) {
        if (attribute.size() != 1) {
            errors.invalid(path, attribute.toString(), "exactly one value must be specified");
        }
        for (String field : SCALARS) {
            if (attribute.has(field)) {
                checkText(field, attribute.get(field), path + "." + field, errors);
            }
        }
        for (String field : LISTS) {
            checkList(attribute, field, path + "." + field, errors);
        }
    }

    private static void checkList(
            JsonNode attribute, String field, String path, FieldErrors errors) {
        JsonNode list = attribute.path(field);
        if (attribute.has(field) && list.isEmpty()) {
            errors.required(path, "must contain at least one item");
        }
        for (int i = 0; i < list.size(); i++) {
            checkText(field, list.get(i), path + "[" + i + "]", errors);
        }
    }

    private static void checkText(String field, JsonNode value, String path, FieldErrors errors) {
        String text = value.asText();
        if (value.isTextual() && text.getBytes(StandardCharsets.UTF_8).length > TEXT_LENGTH) {
            errors.tooLong(path, TEXT_LENGTH);
        } else if (field.startsWith("version") && !SEMVER.matcher(text).matches()) {
            errors.invalid(path, text, "must be a string compatible with semver.org spec 2.0.0");
        }
    }
}
