// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

/** The harm that a finding does. */
public enum Severity {
    /** Something does not work, or soon will not. */
    ERROR,
    /** It works, with less than was asked for, or at a risk. */
    WARNING
}
