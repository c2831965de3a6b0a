// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A cache of compiled selectors, which is cleared when it is full. */
final class Expressions {
    private static final int KEPT = 1000;

    private final Map<String, DeviceSelector> compiled = new ConcurrentHashMap<>();

    /**
     * Returns whether a selector selects a device.
     *
     * @param selector its owner and index, as messages show them
     * @param place the suffix of messages about the device
     * @throws AttemptException if it cannot be compiled, or cannot be evaluated on this device
     */
    boolean matches(String expression, Candidate candidate, String selector, String place) {
        try {
            return compiled(expression, selector).matches(candidate.variable());
        } catch (ExpressionException e) {
            throw new AttemptException(selector + place + ": " + e.getMessage());
        }
    }

    private DeviceSelector compiled(String expression, String selector) {
        if (compiled.size() >= KEPT) {
            compiled.clear();
        }
        try {
            return compiled.computeIfAbsent(expression, DeviceSelector::compile);
        } catch (ExpressionException e) {
            throw new AttemptException(selector + ": CEL compile error: " + e.getMessage());
        }
    }
}
