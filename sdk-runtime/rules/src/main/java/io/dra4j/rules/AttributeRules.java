// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
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
        return LISTS.stream()
                .anyMatch(
                        list ->
                                attributes
                                        .valueStream()
                                        .anyMatch(one -> !one.path(list).isEmpty()));
    }

    static void check(Field attributes, int maxValues) {
        int values = 0;
        for (String key : attributes.keys()) {
            checkKey(key, attributes);
            checkValue(attributes.key(key));
            for (JsonNode value : attributes.key(key).value()) {
                values += value.isArray() ? value.size() : 1;
            }
        }
        attributes.requireAtMost(values, maxValues);
    }

    /** A C identifier, or a domain, a slash and a C identifier. */
    static void checkKey(String key, Field map) {
        int slash = key.indexOf('/');
        if (slash >= 0) {
            String domain = key.substring(0, slash);
            checkPart("domain", domain, DOMAIN_LENGTH, Names::driverProblem, map);
        }
        String id = key.substring(slash + 1);
        checkPart("name", id, ID_LENGTH, Names::cIdentifierProblem, map);
    }

    /** Requires a key that has its domain, and returns whether it is one. */
    static boolean checkFullName(Field name) {
        int before = name.errors().all().size();
        checkKey(name.text(), name);
        name.requireThat(name.text().contains("/"), "must be a domain and a name");
        return name.errors().all().size() == before;
    }

    private static void checkPart(
            String part, String text, int limit, UnaryOperator<String> problem, Field map) {
        if (text.isEmpty()) {
            map.required("the " + part + " must not be empty");
        } else if (text.length() > limit) {
            map.errors().tooLong(map.path(), limit);
        } else {
            map.requireForm(text, problem);
        }
    }

    private static void checkValue(Field attribute) {
        String shown = attribute.value().toString();
        attribute.requireThat(attribute.size() == 1, shown, "exactly one value must be specified");
        for (String type : SCALARS) {
            if (attribute.value().has(type)) {
                checkText(type, attribute.at(type));
            }
        }
        for (String type : LISTS) {
            Field list = attribute.at(type);
            if (attribute.value().has(type) && list.size() == 0) {
                list.required("must contain at least one item");
            }
            list.items().forEach(item -> checkText(type, item));
        }
    }

    private static void checkText(String type, Field field) {
        String text = field.text();
        boolean textual = field.value().isTextual();
        if (textual && text.getBytes(StandardCharsets.UTF_8).length > TEXT_LENGTH) {
            field.errors().tooLong(field.path(), TEXT_LENGTH);
        } else if (type.startsWith("version") && !SEMVER.matcher(text).matches()) {
            field.invalid("must be a string compatible with semver.org spec 2.0.0");
        }
    }
}
