// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;

/**
 * Opaque configurations of the driver under test.
 *
 * @param valid what it accepts; two with different effects let most rules be tried
 * @param invalid what it must refuse
 * @param precedence which of several it uses: {@code last}, {@code merge} or {@code
 *     reject-multiple}
 */
public record ConfigSettings(List<Valid> valid, List<JsonNode> invalid, String precedence) {

    /** None are known. */
    public static final ConfigSettings NONE = new ConfigSettings(List.of(), List.of(), "last");

    /** Fills in what was left out. */
    public ConfigSettings {
        valid = valid == null ? List.of() : List.copyOf(valid);
        invalid = invalid == null ? List.of() : List.copyOf(invalid);
        precedence = precedence == null ? "last" : precedence;
    }

    /**
     * A configuration that the driver accepts.
     *
     * @param parameters as in {@code opaque.parameters}
     * @param effect a regular expression that some edit of a device so configured matches, as text
     *     such as {@code env SHARING=TimeSlicing}, and no other does; empty if nothing can be seen
     */
    public record Valid(JsonNode parameters, String effect) {

        /** Fills in what was left out. */
        public Valid {
            if (parameters == null || !parameters.isObject()) {
                throw new SettingsException("driver.configs.valid: parameters must be an object, as in a claim");
            }
            effect = effect == null ? "" : effect;
        }
    }
}
