// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

/** The status of a {@linkplain DeviceStatus.Condition condition}. */
public enum ConditionStatus {
    /** The condition is true. */
    TRUE("True"),
    /** The condition is false. */
    FALSE("False"),
    /** It is unknown whether the condition is true. */
    UNKNOWN("Unknown");

    private final String apiName;

    ConditionStatus(String apiName) {
        this.apiName = apiName;
    }

    /** {@return the name in the Kubernetes API, for instance {@code True}} */
    public String apiName() {
        return apiName;
    }
}
