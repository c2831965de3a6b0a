// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import java.io.Serial;

/** Carries the reason why a file can't be used, and the file's name. */
final class PemException extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    PemException(String message) {
        super(message);
    }

    PemException(String message, Throwable cause) {
        super(message, cause);
    }
}
