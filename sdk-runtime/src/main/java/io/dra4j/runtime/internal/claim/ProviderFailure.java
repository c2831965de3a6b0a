// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;

/** Turns what a provider throws into a failure of the one claim that it was called for. */
final class ProviderFailure {

    private ProviderFailure() {}

    /**
     * Returns the failure: a {@link DraException} as it is; of anything else the owner of the pod
     * learns only that the driver failed.
     *
     * @throws VirtualMachineError if it is one: the process is in no state to go on with the claim
     */
    static DraException of(String what, Throwable thrown) {
        if (thrown instanceof VirtualMachineError broken) {
            throw broken;
        }
        return thrown instanceof DraException known
                ? known
                : new DraException("the driver " + what + "; see its log", thrown);
    }
}
