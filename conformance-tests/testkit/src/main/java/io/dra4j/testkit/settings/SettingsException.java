// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.settings;

/** The settings cannot be used; the message names the setting and the problem, in a line or two. */
public final class SettingsException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public SettingsException(String message) {
        super(message);
    }
}
