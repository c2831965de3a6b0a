// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Compiles each selector once. */
final class Expressions {
    private final Map<String, DeviceSelector> compiled = new ConcurrentHashMap<>();

    /**
     * Returns whether a selector selects a device.
     *
     * @param owner of the selector, as messages show it
     * @throws AttemptException if it cannot be compiled, or cannot be evaluated on this device
     */
    boolean matches(String expression, Candidate candidate, String owner) {
        try {
            return selector(expression, owner).matches(candidate.variable());
        } catch (ExpressionException e) {
            throw new AttemptException(owner + ": " + e.getMessage());
        }
    }

    private DeviceSelector selector(String expression, String owner) {
        try {
            return compiled.computeIfAbsent(expression, DeviceSelector::compile);
        } catch (ExpressionException e) {
            throw new AttemptException(owner + ": CEL compile error: " + e.getMessage());
        }
    }
}
