// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

/** The rule for writing and showing an empty field; the values of {@code presence.yaml}. */
enum FieldPresence {
    /** Written and shown when set, even if empty. */
    POINTER,
    /** Like {@link #POINTER}, and shown as null when not set. */
    NULLABLE,
    /** Always written, shown unless empty. */
    VALUE,
    /** Always written and always shown. */
    KEPT,
    /** A message whose fields are inlined among the others. */
    INLINE;

    boolean alwaysWritten() {
        return this == VALUE || this == KEPT;
    }
}
