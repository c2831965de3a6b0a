// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

/** A kubeconfig that cannot be used: one line that names the file, what is wrong, and where. */
public final class KubeconfigException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    KubeconfigException(String message) {
        super(message);
    }

    KubeconfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
