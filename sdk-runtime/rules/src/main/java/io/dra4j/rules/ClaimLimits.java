// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** The sizes of claims that the rules of all releases share. */
public final class ClaimLimits {
    /** Results of an allocation. */
    public static final int RESULTS = 32;

    /** Conditions of a device in a claim's status. */
    public static final int DEVICE_CONDITIONS = 8;

    /** The length in bytes of a third party's raw JSON: the data of a device, a configuration. */
    public static final int RAW_LENGTH = 10 * 1024;

    private ClaimLimits() {}
}
