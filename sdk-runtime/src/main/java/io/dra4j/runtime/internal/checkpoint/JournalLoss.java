// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.util.HashSet;
import java.util.Set;

/**
 * The lines that were damaged or missing when a journal was read.
 *
 * @param tornTail true if a crash tore the last line; its write had not returned, and nothing is lost
 * @param damagedLines how many other lines are damaged or missing, as far as that is known
 * @param uids the claims of those lines, as far as the lines name them
 * @param complete true if they name all; if not, there may be lost claims that only their CDI specs or the API server
 *     know
 */
public record JournalLoss(boolean tornTail, int damagedLines, Set<String> uids, boolean complete) {

    static final JournalLoss NONE = new JournalLoss(false, 0, Set.of(), true);

    public JournalLoss {
        uids = Set.copyOf(uids);
    }

    boolean isDamage() {
        return damagedLines > 0;
    }

    /** Combines this loss with a later one, which determines whether it is complete. */
    JournalLoss then(JournalLoss later) {
        Set<String> all = new HashSet<>(uids);
        all.addAll(later.uids);
        return new JournalLoss(tornTail || later.tornTail, damagedLines + later.damagedLines, all, later.complete);
    }

    JournalLoss foundAll() {
        return new JournalLoss(tornTail, damagedLines, uids, true);
    }
}
