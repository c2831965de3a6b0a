// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

/** The API server behind the proxy cannot be used: one line that says which, why, and what next. */
public final class UpstreamException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UpstreamException(String message, Throwable cause) {
        super(message, cause);
    }

    UpstreamException(String message) {
        super(message);
    }
}
