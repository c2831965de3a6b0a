// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.claim.allocation.ConfigDecoder.Decoded;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;

/**
 * An entry of a claim's configurations for this driver, decoded.
 *
 * @param index its place in the allocation's list
 */
record ConfigEntry(int index, Config config, Decoded<?> decoded) {

    static ConfigEntry decode(int index, Config config, ConfigDecoder decoder) {
        try {
            Decoded<?> decoded = decoder.decode(config.parametersJson());
            requireAllowed(decoded.type(), config);
            return new ConfigEntry(index, config, decoded);
        } catch (PrepareException e) {
            throw new PrepareException(describe(index, config) + ": " + e.getMessage(), e);
        }
    }

    private static void requireAllowed(ConfigType<?> type, Config config) {
        if (!type.sources().contains(source(config))) {
            throw new PrepareException(
                    "%s is not allowed in a %s".formatted(type.kind(), config.fromClass() ? "class" : "claim"));
        }
    }

    static ConfigSource source(Config config) {
        return config.fromClass() ? ConfigSource.FROM_CLASS : ConfigSource.FROM_CLAIM;
    }

    /** Returns the request of a result, without the subrequest that was chosen for it. */
    static String mainRequest(String request) {
        int slash = request.indexOf('/');
        return slash < 0 ? request : request.substring(0, slash);
    }

    boolean isFor(String request) {
        return isForAllRequests()
                || config.requests().contains(request)
                || config.requests().contains(mainRequest(request));
    }

    boolean isForAllRequests() {
        return config.requests().isEmpty();
    }

    ConfigType<?> type() {
        return decoded.type();
    }

    /** Returns the decoded value of an entry of this type. */
    <T> T value(ConfigType<T> type) {
        return type.type().cast(decoded.value());
    }

    /**
     * Returns the value of this entry, normalized.
     *
     * @throws PrepareException if it is not valid; the message names the entry
     */
    <T> AppliedConfig<T> valid(ConfigType<T> type, T value) {
        try {
            return new AppliedConfig<>(ConfigDecoder.valid(type, value), source(config), index, config.requests());
        } catch (PrepareException e) {
            throw new PrepareException(describe() + ": " + e.getMessage(), e);
        }
    }

    /** Ensures that a valid value changes no device of a request with admin access: others may be using it. */
    <T> void requireUnchanged(ConfigType<T> type, T value, String request) {
        if (type.changesDevice().test(value)) {
            throw new PrepareException(
                    "%s: %s would change the devices of request %s, which has admin access, and others may be using them; request them without admin access, or without this configuration"
                            .formatted(describe(), type.kind(), request));
        }
    }

    String describe() {
        return describe(index, config);
    }

    private static String describe(int index, Config config) {
        return "config " + index + " from the " + (config.fromClass() ? "class" : "claim");
    }
}
