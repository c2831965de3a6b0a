// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.List;

/** Lists what an explanation can't know. */
final class Unknowns {
    private Unknowns() {}

    /** The reasons why the outcome could be another; where no node was looked at, there are few. */
    static List<String> of(Snapshot snapshot, boolean hasNodes, boolean isCutShort) {
        List<String> all = new ArrayList<>();
        if (hasNodes) {
            all.add("claims that are being allocated at this moment");
            all.add("CPU, memory, taints of nodes, affinity to pods");
            all.add("feature gates (the defaults of Kubernetes 1.%d are assumed)"
                    .formatted(snapshot.release().minor()));
        }
        if (isCutShort) {
            all.add("more changes, since trying them takes too long");
        }
        all.addAll(snapshot.unread());
        return all;
    }
}
