// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.runtime.internal.cluster.ClusterException;
import java.time.Duration;

/** Failures as the cluster package reports them. */
final class Failures {

    private Failures() {}

    static ClusterException status(int status) {
        return new ClusterException("The API server answered " + status, status, null);
    }

    static ClusterException retryAfter(int status, Duration wait) {
        return new ClusterException("The API server answered " + status, status, wait);
    }

    static ClusterException invalid(String message) {
        return new ClusterException("The API server answered 422 (" + message + ")", 422, null);
    }
}
