// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import org.jspecify.annotations.Nullable;

/** The API server behind the proxy, or its kubeconfig, cannot be used; the message is one line. */
public final class UpstreamException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UpstreamException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    public UpstreamException(String message) {
        super(message);
    }
}
