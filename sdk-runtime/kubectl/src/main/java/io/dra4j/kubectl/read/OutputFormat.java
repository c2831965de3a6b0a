// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

/** The form of what a command prints. */
public enum OutputFormat {
    /** For people. */
    text,
    /** For tools. */
    json
}
