// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The selectors of a DeviceClass.
 *
 * @param name of the class
 * @param selectors compiled; of another kind than CEL, or of a newer release, they are left out
 * @param strings in the expressions; the name of the driver is among them
 */
record ClassSelectors(String name, List<DeviceSelector> selectors, Set<String> strings) {

    private static final Pattern STRING = Pattern.compile("\"([^\"]*)\"|'([^']*)'");

    static ClassSelectors of(JsonNode deviceClass) {
        List<DeviceSelector> selectors = new ArrayList<>();
        Set<String> strings = new TreeSet<>();
        for (JsonNode one : deviceClass.at("/spec/selectors")) {
            String expression = one.at("/cel/expression").asText();
            STRING.matcher(expression)
                    .results()
                    .map(text -> text.group(1) == null ? text.group(2) : text.group(1))
                    .forEach(strings::add);
            try {
                selectors.add(DeviceSelector.compile(expression));
            } catch (ExpressionException e) {
                continue; // what can't be known is no finding
            }
        }
        return new ClassSelectors(deviceClass.at("/metadata/name").asText(), selectors, strings);
    }

    /** Returns whether a device may be selected; one that an expression fails on is not. */
    boolean select(String driver, JsonNode device) {
        try {
            for (DeviceSelector one : selectors) {
                if (!one.matches(driver, device)) {
                    return false;
                }
            }
            return true;
        } catch (ExpressionException e) {
            return false;
        }
    }
}
