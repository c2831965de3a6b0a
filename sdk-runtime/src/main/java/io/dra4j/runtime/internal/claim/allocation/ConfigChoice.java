// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Device;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.claim.allocation.ConfigDecoder.Decoded;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;

/**
 * Chooses the configurations of each device by the API's rules.
 *
 * <p>Entries of the class come before those of the claim. An entry applies to a result if it names
 * no request, the result's request (with its subrequest, if there is one), or the main request of
 * its subrequest. Entries that apply to none of the driver's results are not even decoded. One
 * object serves one claim; each entry is decoded once.
 */
final class ConfigChoice {

    private final String driver;
    private final List<ConfigType<?>> types;
    private final ConfigDecoder decoder;
    private final List<Config> entries;
    private final Map<Integer, Decoded<?>> decoded = new LinkedHashMap<>();

    ConfigChoice(String driver, List<ConfigType<?>> types, List<Config> entries) {
        this.driver = driver;
        this.types = types;
        this.decoder = new ConfigDecoder(types);
        this.entries = entries;
    }

    /**
     * Returns what applies to a result, at most one configuration of each type.
     *
     * @param device the published device; empty if it is published elsewhere
     * @throws PrepareException if an entry that applies is not valid
     */
    List<AppliedConfig<?>> configsOf(Result result, Optional<Device> device) {
        Map<ConfigType<?>, AppliedConfig<?>> chosen = new LinkedHashMap<>();
        for (ConfigSource source : List.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM)) {
            for (int index = 0; index < entries.size(); index++) {
                Config entry = entries.get(index);
                if (source(entry) == source
                        && driver.equals(entry.driver())
                        && names(entry, result)) {
                    apply(index, result, device, chosen);
                }
            }
        }
        types.forEach(type -> addDefault(type, device, chosen));
        return List.copyOf(chosen.values());
    }

    private void apply(
            int index,
            Result result,
            Optional<Device> device,
            Map<ConfigType<?>, AppliedConfig<?>> chosen) {
        Config entry = entries.get(index);
        Decoded<?> config = decoded(index, entry);
        if (fits(config.type(), device)) {
            choose(config, index, entry, chosen);
        } else if (!entry.requests().isEmpty()) {
            throw new PrepareException(
                    "%s: %s does not fit device %s/%s"
                            .formatted(
                                    describe(index, entry),
                                    config.type().kind(),
                                    result.pool(),
                                    result.device()));
        }
    }

    private static <T> void choose(
            Decoded<T> config,
            int index,
            Config entry,
            Map<ConfigType<?>, AppliedConfig<?>> chosen) {
        ConfigType<T> type = config.type();
        T value = config.value();
        AppliedConfig<?> earlier = chosen.get(type);
        BinaryOperator<T> merge = type.merge();
        if (merge != null && earlier != null) {
            value =
                    ConfigDecoder.valid(
                            type, merge.apply(type.type().cast(earlier.value()), value));
        }
        chosen.put(type, new AppliedConfig<>(value, source(entry), index, entry.requests()));
    }

    private static <T> void addDefault(
            ConfigType<T> type,
            Optional<Device> device,
            Map<ConfigType<?>, AppliedConfig<?>> chosen) {
        Supplier<T> defaults = type.defaults();
        if (defaults != null && !chosen.containsKey(type) && fits(type, device)) {
            T value = ConfigDecoder.valid(type, defaults.get());
            chosen.put(
                    type, new AppliedConfig<>(value, ConfigSource.DEFAULT, -1, new ArrayList<>()));
        }
    }

    private Decoded<?> decoded(int index, Config entry) {
        Decoded<?> known = decoded.get(index);
        if (known != null) {
            return known;
        }
        try {
            Decoded<?> config = decoder.decode(entry.parametersJson());
            requireAllowed(config.type(), entry);
            decoded.put(index, config);
            return config;
        } catch (PrepareException e) {
            throw new PrepareException(describe(index, entry) + ": " + e.getMessage(), e);
        }
    }

    private static void requireAllowed(ConfigType<?> type, Config entry) {
        if (!type.sources().contains(source(entry))) {
            throw new PrepareException(
                    "%s is not allowed in a %s"
                            .formatted(type.kind(), entry.fromClass() ? "class" : "claim"));
        }
    }

    /** Returns the request of a result, without the subrequest that was chosen for it. */
    static String mainRequest(String request) {
        int slash = request.indexOf('/');
        return slash < 0 ? request : request.substring(0, slash);
    }

    private static boolean names(Config entry, Result result) {
        return entry.requests().isEmpty()
                || entry.requests().contains(result.request())
                || entry.requests().contains(mainRequest(result.request()));
    }

    private static boolean fits(ConfigType<?> type, Optional<Device> device) {
        return device.map(type.appliesTo()::test).orElse(true);
    }

    private static ConfigSource source(Config entry) {
        return entry.fromClass() ? ConfigSource.FROM_CLASS : ConfigSource.FROM_CLAIM;
    }

    private static String describe(int index, Config entry) {
        return "config " + index + " from the " + (entry.fromClass() ? "class" : "claim");
    }
}
