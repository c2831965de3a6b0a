// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.requirements.KnownNames;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Opaque configurations of the driver under test.
 *
 * @param valid configurations that it accepts; two with different effects let most rules be checked
 * @param invalid a configuration that it must refuse
 * @param precedence which of several it uses: {@code last}, {@code merge} or {@code reject-multiple}
 */
public record ConfigSettings(List<Valid> valid, List<JsonNode> invalid, String precedence) {

    public static final ConfigSettings NONE = new ConfigSettings(List.of(), List.of(), "last");

    public ConfigSettings {
        valid = valid == null ? List.of() : List.copyOf(valid);
        invalid = invalid == null ? List.of() : List.copyOf(invalid);
        precedence = precedence == null ? "last" : precedence;
        KnownNames.of("last", "merge", "reject-multiple").requireAll("driver.configs.precedence", List.of(precedence));
        List<String> effects =
                valid.stream().map(Valid::effect).filter(e -> !e.isEmpty()).toList();
        if (Set.copyOf(effects).size() < effects.size()) {
            throw new SettingsException(
                    "driver.configs.valid: two configurations have the same effect, so they cannot be distinguished: %s; give each a pattern that only its own edits match"
                            .formatted(effects));
        }
    }

    /** The valid configurations whose effects can be seen. */
    public List<Valid> visible() {
        return valid.stream().filter(one -> !one.effect().isEmpty()).toList();
    }

    /** Throws SettingsException if an effect shows without its configuration, and so proves nothing. */
    public void requireAbsent(List<String> edits) {
        for (Valid config : visible()) {
            edits.stream().filter(config::shows).findFirst().ifPresent(edit -> {
                throw new SettingsException(
                        "driver.configs.valid: the effect \"%s\" proves nothing: a device without a configuration has the edit \"%s\"; give parameters that differ from the driver's defaults, and a pattern of what they change"
                                .formatted(config.effect(), edit));
            });
        }
    }

    /**
     * A configuration that the driver accepts.
     *
     * @param parameters as in {@code opaque.parameters}
     * @param effect a regular expression that some edit of a device so configured matches, as text
     *     such as {@code env SHARING=TimeSlicing}, and no other does; empty if nothing can be seen
     */
    public record Valid(JsonNode parameters, String effect) {

        public Valid {
            if (parameters == null || !parameters.isObject()) {
                throw new SettingsException("driver.configs.valid: parameters must be an object, as in a claim");
            }
            effect = effect == null ? "" : effect;
            try {
                if (!effect.isEmpty() && Pattern.compile(effect).matcher("").find()) {
                    throw new SettingsException(
                            "driver.configs.valid: the effect \"%s\" matches everything, even an empty line; give a pattern of the line that the configuration adds"
                                    .formatted(effect));
                }
            } catch (PatternSyntaxException e) {
                throw new SettingsException(
                        "driver.configs.valid: the effect is not a regular expression: " + e.getMessage());
            }
        }

        /** Returns whether an edit of a device shows the effect. */
        public boolean shows(String edit) {
            return Pattern.compile(effect).matcher(edit).find();
        }
    }
}
