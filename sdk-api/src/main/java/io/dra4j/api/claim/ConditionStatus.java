// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

/** The status of a {@linkplain DeviceStatus.Condition condition}. */
public enum ConditionStatus {
    /** It holds. */
    TRUE("True"),
    /** It does not hold. */
    FALSE("False"),
    /** It is unknown. */
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
