// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;

/**
 * A CEL expression of a class or a request that selects devices.
 *
 * <p>As for a scheduler, what fails to evaluate is not just a device that does not match.
 */
final class Selector {

    private final String expression;
    private final String owner;
    private final DeviceSelector compiled;

    private Selector(String expression, String owner, DeviceSelector compiled) {
        this.expression = expression;
        this.owner = owner;
        this.compiled = compiled;
    }

    /** The selectors of a class or a request. */
    static List<Selector> all(JsonNode spec, String owner) {
        return Cluster.elements(spec.path("selectors")).stream()
                .map(one -> compile(one.at("/cel/expression").asText(), owner))
                .toList();
    }

    /**
     * Compiles an expression.
     *
     * @param owner what has it, for messages, for example {@code DeviceClass gpu.example.com}
     * @throws SettingsException if it cannot be compiled
     */
    static Selector compile(String expression, String owner) {
        try {
            return new Selector(expression, owner, DeviceSelector.compile(expression));
        } catch (ExpressionException e) {
            throw failure(owner, expression, "cannot be compiled", e);
        }
    }

    /**
     * Returns whether a device may be allocated.
     *
     * @throws SettingsException if the expression fails, or is neither true nor false
     */
    boolean matches(Candidate device) {
        try {
            return compiled.matches(device.driver(), device.json());
        } catch (ExpressionException e) {
            throw failure(owner, expression, "fails on device " + device.key(), e);
        }
    }

    private static SettingsException failure(String owner, String expression, String what, Exception e) {
        String first = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        return new SettingsException(
                "driver.claims: the CEL expression of %s %s (%s): %s".formatted(owner, what, first, expression));
    }
}
