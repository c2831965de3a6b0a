// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

/** The severity of a finding. */
public enum Severity {
    /** Something does not work, or soon will not. */
    ERROR,
    /** It works, but with less than requested, or at a risk. */
    WARNING
}
