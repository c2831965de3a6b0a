// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

/** The weight of a requirement: a failed one fails the run, warns, or is only listed. */
public enum Level {
    MUST,
    SHOULD,
    MAY
}
