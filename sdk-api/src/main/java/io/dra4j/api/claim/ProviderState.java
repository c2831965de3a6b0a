// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.Objects;

/**
 * A provider's own state for a claim, which survives a crash and a restart.
 *
 * <p>The runtime keeps it in the journal and never interprets it. It survives updates of the driver, and so does its
 * version: a provider must read the states that its earlier releases wrote.
 *
 * @param version the version of the state's format, chosen by the provider
 * @param rawJson the state, one JSON value as text, at most 64 KiB
 */
public record ProviderState(int version, String rawJson) {

    private static final int LONGEST = 64 * 1024;

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException if the text is longer than 64 Ki characters
     */
    public ProviderState {
        Objects.requireNonNull(rawJson, "rawJson");
        if (rawJson.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "State of " + rawJson.length() + " characters; at most " + LONGEST + " are kept");
        }
    }
}
