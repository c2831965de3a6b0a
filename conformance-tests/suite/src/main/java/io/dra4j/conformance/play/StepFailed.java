// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import java.io.Serial;

/** A step of a play did not hold; the message is for the people who watch. */
final class StepFailed extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    StepFailed(String message) {
        super(message);
    }

    static void unless(boolean held, String message) {
        if (!held) {
            throw new StepFailed(message);
        }
    }
}
