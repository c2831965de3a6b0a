// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import org.jspecify.annotations.Nullable;

/** The outcome of one claim's unpreparation. */
public sealed interface UnprepareOutcome {

    /** Nothing of the claim is left. */
    record Unprepared() implements UnprepareOutcome {}

    /** Something may be left; the kubelet tries again. {@link OwnerText} has made the message fit to be shown. */
    record Failed(String message) implements UnprepareOutcome {
        public Failed(@Nullable String message) {
            this.message = OwnerText.of(message);
        }
    }
}
