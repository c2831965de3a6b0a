// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

/** How the unpreparation of one claim ended. */
public sealed interface UnprepareOutcome {

    /** Nothing of the claim is left. */
    record Unprepared() implements UnprepareOutcome {}

    /** Something may be left; the kubelet tries again. */
    record Failed(String message) implements UnprepareOutcome {}
}
