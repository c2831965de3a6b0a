// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that the driver's journal knows: prepared, or on the way to it, or not yet cleaned up.
 *
 * <p>The claim's object may be gone from the API server.
 *
 * @param ref names the claim
 * @param phase how far it has come
 * @param beforeReboot whether the record was written before the node's last boot; what lived in the
 *     kernel or on a volatile file system is gone then, some attachments of hardware are not
 * @param devices the devices that it holds
 * @param state what the provider recorded or answered last; {@code null} if it never did, or if the
 *     record is lost
 */
public record HeldClaim(
        ClaimRef ref,
        Phase phase,
        boolean beforeReboot,
        List<HeldDevice> devices,
        @Nullable ProviderState state) {

    /** Copies the list. */
    public HeldClaim {
        devices = List.copyOf(devices);
    }

    /** The phase of a held claim. */
    public enum Phase {
        /** Its preparation began and did not end: any part of it may have been done. */
        STARTED,
        /** It is prepared. */
        PREPARED,
        /** Its unpreparation began and did not end: any part of it may have been done. */
        UNPREPARING,
        /**
         * Its record is lost, and with it the state.
         *
         * <p>It is known by what is left of the record, by its CDI spec, or by the API server.
         * Containers may be using its devices, also when the kubelet has the claim prepared again
         * after its own restart; the devices named may be too many, or none.
         */
        DAMAGED
    }
}
