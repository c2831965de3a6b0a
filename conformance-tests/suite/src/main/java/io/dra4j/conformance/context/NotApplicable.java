// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

/** A rule finds that it does not apply to this driver; the message has the reason. */
public final class NotApplicable extends RuntimeException {

    private static final long serialVersionUID = 1;

    public NotApplicable(String reason) {
        super(reason);
    }

    public static void unless(boolean applies, String reason, Object... arguments) {
        if (!applies) {
            throw new NotApplicable(reason.formatted(arguments));
        }
    }
}
