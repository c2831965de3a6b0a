// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Device;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Chooses the configurations of each device by the API's rules.
 *
 * <p>Each entry of the driver is decoded, whether it applies or not. Those of the class come before those of the claim,
 * and are searched from the last to the first: an entry is for a result if it names no request, the result's request
 * (with its subrequest, if there is one), or the main request of its subrequest. The search for a device ends when each
 * kind that fits it is found, so earlier entries are neither validated nor a misfit. One object serves one claim.
 */
final class ConfigChoice {

    private final List<ConfigType<?>> types;
    private final List<ConfigEntry> lastFirst = new ArrayList<>();

    /**
     * Decodes a claim's entries.
     *
     * @throws PrepareException if an entry of this driver can't be decoded
     */
    ConfigChoice(String driver, List<ConfigType<?>> types, List<Config> configs) {
        this.types = types;
        ConfigDecoder decoder = new ConfigDecoder(types);
        for (ConfigSource source : List.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM)) {
            for (int index = 0; index < configs.size(); index++) {
                Config config = configs.get(index);
                if (ConfigEntry.source(config) == source && driver.equals(config.driver())) {
                    lastFirst.add(0, ConfigEntry.decode(index, config, decoder));
                }
            }
        }
    }

    /**
     * Returns what applies to a result, at most one configuration of each type.
     *
     * @param device the published device; empty if it is published elsewhere
     * @throws PrepareException if an entry that applies is not valid, or an entry names the request
     *     of a device that it does not fit
     */
    List<AppliedConfig<?>> configsOf(Result result, Optional<Device> device) {
        List<ConfigType<?>> fitting = types.stream()
                .filter(type -> device.map(type.appliesTo()::test).orElse(true))
                .toList();
        List<ConfigEntry> found = find(result, fitting);
        List<AppliedConfig<?>> chosen = new ArrayList<>();
        for (ConfigType<?> type : fitting) {
            choose(type, found, result).ifPresent(chosen::add);
        }
        return chosen;
    }

    /** Returns the entries that apply, the last one first. */
    private List<ConfigEntry> find(Result result, List<ConfigType<?>> fitting) {
        Set<ConfigType<?>> missing = new HashSet<>(fitting);
        List<ConfigEntry> found = new ArrayList<>();
        for (ConfigEntry entry : lastFirst) {
            if (entry.isFor(result.request())) {
                if (missing.contains(entry.type())) {
                    found.add(entry);
                    if (entry.type().merge() == null) {
                        missing.remove(entry.type());
                    }
                    if (missing.isEmpty()) {
                        return found;
                    }
                } else if (!fitting.contains(entry.type()) && !entry.isForAllRequests()) {
                    throw misfit(entry, result, fitting);
                }
            }
        }
        return found;
    }

    private static PrepareException misfit(ConfigEntry entry, Result result, List<ConfigType<?>> fitting) {
        String kinds = fitting.isEmpty()
                ? "no configurations"
                : fitting.stream()
                        .map(ConfigType::kind)
                        .collect(Collectors.joining(" or ", "configurations of kind ", ""));
        return new PrepareException("%s: cannot apply %s to device %s/%s of request %s: it takes %s"
                .formatted(
                        entry.describe(),
                        entry.type().kind(),
                        result.pool(),
                        result.device(),
                        result.request(),
                        kinds));
    }

    private static <T> Optional<AppliedConfig<T>> choose(ConfigType<T> type, List<ConfigEntry> found, Result result) {
        BinaryOperator<T> merge = type.merge();
        AppliedConfig<T> chosen = null;
        for (int i = found.size() - 1; i >= 0; i--) {
            ConfigEntry entry = found.get(i);
            if (entry.type().equals(type)) {
                AppliedConfig<T> own = entry.valid(type, entry.value(type));
                chosen = merge == null || chosen == null
                        ? own
                        : entry.valid(type, merge.apply(chosen.value(), own.value()));
                if (result.adminAccess()) {
                    entry.requireUnchanged(type, chosen.value(), result.request());
                }
            }
        }
        return chosen == null ? defaults(type) : Optional.of(chosen);
    }

    private static <T> Optional<AppliedConfig<T>> defaults(ConfigType<T> type) {
        return Optional.ofNullable(type.defaults())
                .map(Supplier::get)
                .map(value -> ConfigDecoder.valid(type, value))
                .map(value -> new AppliedConfig<>(value, ConfigSource.DEFAULT, -1, List.of()));
    }
}
