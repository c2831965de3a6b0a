// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the configurations of a claim before it is allocated, by the code that prepares it.
 *
 * <p>Each entry of the driver is decoded, normalized and validated, for any device.
 * Checks that need the allocation are left to prepare: whether the kind suits the device, what entries of the class
 * add, and merged values. Thread-safe.
 */
public final class ConfigCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigCheck.class);

    private final String driver;
    private final ConfigDecoder decoder;

    public ConfigCheck(String driver, List<ConfigType<?>> configTypes) {
        this.driver = driver;
        this.decoder = new ConfigDecoder(declared(configTypes));
    }

    /**
     * Returns the kinds that a provider declares.
     *
     * @throws DraException if it declares a kind twice, returns a null, or if a value of one kind could be one of another
     */
    public static List<ConfigType<?>> declared(@Nullable List<@Nullable ConfigType<?>> types) {
        if (types == null
                || types.stream().anyMatch(Objects::isNull)
                || types.stream().map(String::valueOf).distinct().count() < types.size()
                || types.stream().anyMatch(kind -> types.stream().anyMatch(other -> isAmbiguous(kind, other)))) {
            throw new DraException(
                    "DeviceProvider.configTypes() must return each kind once, with a Java type that no other kind's values have, and no null; it returned "
                            + types);
        }
        return List.copyOf(types);
    }

    private static boolean isAmbiguous(ConfigType<?> kind, ConfigType<?> other) {
        return kind != other && kind.type().isAssignableFrom(other.type());
    }

    /**
     * The reason why an entry can't be prepared.
     *
     * @param index the entry's place in the list
     */
    public record Problem(int index, String message) {}

    /**
     * Returns the problems of the entries for this driver; those of others are not read.
     *
     * @param requests whether each request of the claim has admin access, by its name
     */
    public List<Problem> problems(List<Config> configs, Map<String, Boolean> requests) {
        List<Problem> problems = new ArrayList<>();
        for (int index = 0; index < configs.size(); index++) {
            if (driver.equals(configs.get(index).driver())) {
                try {
                    ConfigEntry entry = ConfigEntry.decode(index, configs.get(index), decoder);
                    requireValid(entry, entry.type(), forAdmin(entry, requests));
                } catch (PrepareException e) {
                    problems.add(new Problem(index, String.valueOf(e.getMessage())));
                } catch (RuntimeException e) {
                    // The same would happen at prepare.
                    LOG.atError().setCause(e).log("The driver's check of a configuration failed");
                    problems.add(new Problem(index, "the driver could not check it; see its log"));
                }
            }
        }
        return problems;
    }

    /** For an entry without requests, only the allocation decides this, unless all have admin access. */
    private static Optional<String> forAdmin(ConfigEntry entry, Map<String, Boolean> requests) {
        return requests.entrySet().stream()
                .filter(entry.isForAllRequests() ? request -> !requests.containsValue(false) : Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .filter(entry::isFor)
                .findFirst();
    }

    private static <T> void requireValid(ConfigEntry entry, ConfigType<T> type, Optional<String> forAdmin) {
        T value = entry.valid(type, entry.value(type)).value();
        forAdmin.ifPresent(request -> entry.requireUnchanged(type, value, request));
    }
}
