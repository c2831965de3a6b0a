// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

/** How much a requirement weighs: a failed one fails the run, warns, or is only told. */
public enum Level {
    MUST,
    SHOULD,
    MAY
}
