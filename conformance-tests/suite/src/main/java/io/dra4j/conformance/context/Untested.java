// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

/**
 * A rule applies to this driver but cannot be checked with the settings, machine or devices of this run. The message
 * names what is missing.
 */
public final class Untested extends RuntimeException {

    private static final long serialVersionUID = 1;

    public Untested(String reason) {
        super(reason);
    }

    public static void unless(boolean canBeTried, String reason, Object... arguments) {
        if (!canBeTried) {
            throw new Untested(reason.formatted(arguments));
        }
    }
}
