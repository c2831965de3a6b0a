// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides which writes of a turn are written; the others are told why not.
 *
 * <p>Without a reserve on the disk, nothing is begun that could not be ended. A write's own check
 * sees the claims in force as if the writes before it were durable.
 */
record Admission(Reserve reserve) {

    /** Returns what may be written, in order; the claims are what they will be then. */
    List<Write> admit(List<Write> writes, ClaimIndex claims) {
        List<Write> admitted = new ArrayList<>();
        for (Write write : withRoom(writes)) {
            try {
                write.check().check(claims);
                claims.apply(write.entry());
                admitted.add(write);
            } catch (RuntimeException | Error e) { // the caller's, as it is
                write.fail(e);
            }
        }
        return admitted;
    }

    private List<Write> withRoom(List<Write> writes) {
        if (reserve.isThere() || writes.stream().allMatch(Write::releases)) {
            return writes;
        }
        try {
            reserve.putBack();
            return writes;
        } catch (IOException e) {
            return releasing(writes, e);
        }
    }

    /** Returns the writes that lead to free devices; the others fail. */
    static List<Write> releasing(List<Write> writes, IOException cause) {
        writes.stream().filter(write -> !write.releases()).forEach(write -> write.fail(cause));
        return writes.stream().filter(Write::releases).toList();
    }
}
