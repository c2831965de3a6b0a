// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import org.jspecify.annotations.Nullable;

/** How the unpreparation of one claim ended. */
public sealed interface UnprepareOutcome {

    /** Nothing of the claim is left. */
    record Unprepared() implements UnprepareOutcome {}

    /**
     * Something may be left; the kubelet tries again. The message is what {@link OwnerText} makes
     * of it.
     */
    record Failed(String message) implements UnprepareOutcome {
        public Failed(@Nullable String message) {
            this.message = OwnerText.of(message);
        }
    }
}
