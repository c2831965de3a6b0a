// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** The size limits of claims, which are the same in all releases. */
public final class ClaimLimits {
    /** The maximum number of results of an allocation. */
    public static final int RESULTS = 32;

    /** The maximum number of conditions of a device in a claim's status. */
    public static final int DEVICE_CONDITIONS = 8;

    /** The maximum length in bytes of a third party's raw JSON: the data of a device, a configuration. */
    public static final int RAW_LENGTH = 10 * 1024;

    private ClaimLimits() {}
}
