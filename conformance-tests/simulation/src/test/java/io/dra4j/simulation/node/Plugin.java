// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

import io.dra4j.api.claim.ClaimRef;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A driver as the kubelet calls it. */
public interface Plugin {

    /** Prepares claims; the caller may give up before the answer. */
    Map<ClaimRef, Answer> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft);

    /** Unprepares claims, by their UIDs. */
    Map<String, Answer> unprepare(List<String> uids, Instant deadline);

    /**
     * The answer for a claim.
     *
     * @param error the reason of a failure; {@code null} if there was none
     * @param devices the devices of a prepared claim
     */
    record Answer(@Nullable String error, List<Device> devices) {

        public boolean isOk() {
            return error == null;
        }
    }

    /** A device of a prepared claim. */
    record Device(
            String pool,
            String device,
            List<String> cdiIds,
            @Nullable String shareId) {}
}
