// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.List;

/** Lists what an explanation can't know. */
final class Unknowns {
    private Unknowns() {}

    static List<String> of(Snapshot snapshot, boolean isCutShort) {
        List<String> all = new ArrayList<>();
        all.add(
                "Feature gates: the API does not show them; the defaults of Kubernetes 1.%d are assumed."
                        .formatted(snapshot.release().minor()));
        all.add("Claims that the scheduler is allocating at this moment.");
        all.add("CPU, memory, taints of nodes, affinity to pods: only devices are looked at.");
        if (isCutShort) {
            all.add("More changes: trying them takes too long.");
        }
        snapshot.unread().forEach(one -> all.add(one + "."));
        return all;
    }
}
