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
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options of NVIDIA's driver for features that are off by default. */
@Command(resourceBundle = "io.dra4j.nvidia.options")
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
            converter = GatesFromText.class)
    private NvidiaGates gates;

    private Shares shares;

    @Option(
            names = "--ignore-unknown-gates",
            order = 13,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "${env:IGNORE_UNKNOWN_GATES:-}",
            fallbackValue = "true",
            converter = OptionalBoolean.class)
    private @Nullable Boolean ignoreUnknown;

    @Option(
            names = "--consumable-shares",
            order = 12,
            paramLabel = "SHARES",
            defaultValue = "${env:CONSUMABLE_SHARES:-}")
    private void shares(String given) {
        try {
            shares = Shares.parse(given.strip());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "Invalid value for option '--consumable-shares': " + e.getMessage(), e);
        }
    }

    public Shares shares() {
        return shares;
    }

    public NvidiaGates featureGates() {
        return gates;
    }

    /**
     * Logs how each given gate is handled.
     *
     * @throws DraException if gates are unknown or not supported by this driver, and this is not to be ignored
     */
    public void check() {
        List<String> problems = new ArrayList<>(gates.problems());
        if (shares.areAllowed() && !gates.given(NvidiaGate.ConsumableShares).orElse(true)) {
            problems.add(
                    "--consumable-shares is given, but the feature gate ConsumableShares is off: leave one of them out");
        }
        if (!problems.isEmpty() && !Boolean.TRUE.equals(ignoreUnknown)) {
            throw new DraException(String.join("; ", problems) + "; or start without it, with --ignore-unknown-gates");
        }
        problems.forEach(problem -> LOG.atWarn().addKeyValue("reason", problem).log("An option is ignored"));
        gates.known().forEach(this::log);
    }

    private void log(NvidiaGate gate) {
        LOG.atInfo()
                .addKeyValue("gate", gate)
                .addKeyValue("value", gates.given(gate).orElseThrow())
                .addKeyValue("handling", gate.handling())
                .log("A feature gate was given");
    }

    private static final class GatesFromText implements ITypeConverter<NvidiaGates> {
        @Override
        public NvidiaGates convert(String text) {
            try {
                return NvidiaGates.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Reads an option that is true or false; an empty text means that it was not given. */
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
