// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

/** The suite's own request to the API server failed. */
public final class ApiRequestException extends RuntimeException {

    private static final long serialVersionUID = 1;

    ApiRequestException(String message) {
        super(message);
    }

    ApiRequestException(String message, Throwable cause) {
        super(message, cause);
    }
}
