// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.regex.Pattern;

/** Rules for device attributes. */
record AttributeRules(AttributeKeys keys) {
    private static final List<String> SCALARS = List.of("bool", "int", "string", "version");
    private static final List<String> LISTS = List.of("bools", "ints", "strings", "versions");
    private static final int TEXT_LENGTH = 64;

    /** The longer form first: a part of a version that is found is not tried again. */
    private static final String PRE_RELEASE = "(\\d*[A-Za-z-][0-9A-Za-z-]*|0|[1-9]\\d*)";

    /** Semantic Versioning 2.0.0, without the optional leading v. */
    private static final Pattern SEMVER = Pattern.compile("(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)"
            + "(-%1$s(\\.%1$s)*+)?".formatted(PRE_RELEASE)
            + "(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*+)?");

    /** Returns whether any attribute is a list, be it an empty one. */
    static boolean hasList(JsonNode attributes) {
        for (JsonNode attribute : attributes) {
            for (String list : LISTS) {
                if (attribute.has(list)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The number of values, of which a list has as many as it has items. */
    static int values(JsonNode attributes) {
        int values = 0;
        for (JsonNode attribute : attributes) {
            int items = 0;
            for (String list : LISTS) {
                items += attribute.path(list).size();
            }
            values += Math.max(items, 1);
        }
        return values;
    }

    void check(Field attributes) {
        for (String key : attributes.keys()) {
            checkValue(keys.checked(attributes, key));
        }
    }

    private static void checkValue(Field attribute) {
        for (String type : SCALARS) {
            if (attribute.value().has(type)) {
                checkText(type, attribute.at(type));
            }
        }
        for (String type : LISTS) {
            if (attribute.value().has(type)) {
                checkList(type, attribute.at(type));
            }
        }
        if (attribute.size() != 1) {
            Object shown = attribute.size() == 0 ? "" : attribute.value();
            attribute.invalid(shown, "exactly one value must be specified");
        }
    }

    private static void checkList(String type, Field list) {
        if (list.size() == 0) {
            list.invalidValue("must not be empty if specified");
        }
        list.items().forEach(item -> checkText(type, item));
    }

    private static void checkText(String type, Field field) {
        if (type.startsWith("version")) {
            boolean valid = SEMVER.matcher(field.text()).matches();
            field.requireThat(valid, "must be a string compatible with semver.org spec 2.0.0");
        }
        if (field.value().isTextual()) {
            field.requireLength(TEXT_LENGTH);
        }
    }
}
