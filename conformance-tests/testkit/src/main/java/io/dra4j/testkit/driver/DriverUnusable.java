// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

/** The driver under test cannot be run at all; the message has the reason in a line or two. */
public final class DriverUnusable extends RuntimeException {

    private static final long serialVersionUID = 1;

    public DriverUnusable(String message) {
        super(message);
    }
}
