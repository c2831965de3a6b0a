// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.gates;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.inventory.Shares;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that NVIDIA's driver has for features that are off by default. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class GateOptions {

    private static final Logger LOG = LoggerFactory.getLogger(GateOptions.class);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--feature-gates",
            order = 11,
            paramLabel = "NAME=true|false,...",
            defaultValue = "${env:FEATURE_GATES:-}",
            converter = GatesFromText.class,
            description = {
                "Feature gates of NVIDIA's driver. [FEATURE_GATES]",
                "Default: none; DynamicMIG stands for --dynamic-mig"
            })
    private FeatureGates gates;

    private Shares shares;

    @Option(
            names = "--ignore-unknown-gates",
            order = 13,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "${env:IGNORE_UNKNOWN_GATES:-}",
            fallbackValue = "true",
            converter = OptionalBoolean.class,
            description = {
                "Start without what feature gates ask for and this driver does not have, with a"
                        + " warning. Otherwise it does not start. [IGNORE_UNKNOWN_GATES]",
                "Default: false"
            })
    private @Nullable Boolean ignoreUnknown;

    @Option(
            names = "--consumable-shares",
            order = 12,
            paramLabel = "SHARES",
            defaultValue = "${env:CONSUMABLE_SHARES:-}",
            description = {
                "How many claims may have a device at a time, and how much of its memory each takes"
                        + " that requests none: disabled (one claim, all), memory (any, all),"
                        + " unlimited (any, none), or a number (so many, none). Nothing keeps a"
                        + " container to its share. [CONSUMABLE_SHARES]",
                "Default: disabled"
            })
    private void shares(String given) {
        try {
            shares = Shares.parse(given.strip());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "Invalid value for option '--consumable-shares': " + e.getMessage(), e);
        }
    }

    /** Returns how many claims may have a device. */
    public Shares shares() {
        return shares;
    }

    /** Returns the gates that were given. */
    public FeatureGates featureGates() {
        return gates;
    }

    /**
     * Logs what becomes of each gate that was given.
     *
     * @throws DraException if gates are unknown, or ask for what this driver does not have, and
     *     that is not to be ignored
     */
    public void check() {
        List<String> problems = new ArrayList<>(gates.problems());
        if (shares.areAllowed() && !gates.given(FeatureGate.ConsumableShares).orElse(true)) {
            problems.add(
                    "--consumable-shares is given, and feature gate ConsumableShares is off: leave one of them out");
        }
        if (!problems.isEmpty() && !Boolean.TRUE.equals(ignoreUnknown)) {
            throw new DraException(String.join("; ", problems) + "; or start without it, by --ignore-unknown-gates");
        }
        problems.forEach(problem -> LOG.atWarn().addKeyValue("problem", problem).log("An option is ignored"));
        gates.known().forEach(this::log);
    }

    private void log(FeatureGate gate) {
        LOG.atInfo()
                .addKeyValue("gate", gate)
                .addKeyValue("value", gates.given(gate).orElseThrow())
                .addKeyValue("handling", gate.handling())
                .log("A feature gate was given");
    }

    private static final class GatesFromText implements ITypeConverter<FeatureGates> {
        @Override
        public FeatureGates convert(String text) {
            try {
                return FeatureGates.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Reads an option that is true, false, or not given, which an empty text stands for. */
    public static final class OptionalBoolean implements ITypeConverter<Boolean> {
        @Override
        public @Nullable Boolean convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "true" -> Boolean.TRUE;
                case "false" -> Boolean.FALSE;
                case "" -> null;
                default -> throw new TypeConversionException("'" + text + "' is not a boolean");
            };
        }
    }
}
