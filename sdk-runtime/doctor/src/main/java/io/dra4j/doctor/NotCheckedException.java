// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

/** A check could not run, which is neither healthy nor a finding; the message is the reason. */
public final class NotCheckedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public NotCheckedException(String reason) {
        super(reason);
    }

    public NotCheckedException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
