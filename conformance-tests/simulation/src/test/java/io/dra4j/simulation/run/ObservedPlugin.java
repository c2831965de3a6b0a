// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.simulation.node.Plugin;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** A driver whose calls in progress are known. */
record ObservedPlugin(Plugin plugin, Progress progress, Coverage coverage) implements Plugin {

    @Override
    public Map<ClaimRef, Answer> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
        progress.begins("prepare");
        try {
            Map<ClaimRef, Answer> answers = plugin.prepare(claims, deadline, hasLeft);
            coverage.count(
                    "prepares", answers.values().stream().filter(Answer::isOk).count());
            return answers;
        } finally {
            progress.ends("prepare");
        }
    }

    @Override
    public Map<String, Answer> unprepare(List<String> uids, Instant deadline) {
        progress.begins("unprepare");
        try {
            Map<String, Answer> answers = plugin.unprepare(uids, deadline);
            coverage.count(
                    "unprepares", answers.values().stream().filter(Answer::isOk).count());
            return answers;
        } finally {
            progress.ends("unprepare");
        }
    }
}
