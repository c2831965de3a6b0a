// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import java.io.Serial;

/** Carries the reason why a document is no review that can be answered. */
final class BadReviewException extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    BadReviewException(String message) {
        super(message);
    }
}
