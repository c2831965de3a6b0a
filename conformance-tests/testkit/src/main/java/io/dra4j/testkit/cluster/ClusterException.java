// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

/** The suite's own request to the API server failed. */
public final class ClusterException extends RuntimeException {

    private static final long serialVersionUID = 1;

    ClusterException(String message) {
        super(message);
    }

    ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
