// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.QuietWindow;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A driver whose devices do not change leaves its slices alone. */
@ExecutionGroup.On(ExecutionGroup.QUIET)
record QuietRules(TestContext context, Publishing publishing) {

    private static final int STOPS = 3;
    private static final int KILLS = 2;

    QuietRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-SLICE-06")
    void anIdleDriverWritesNothing() throws InterruptedException {
        publishing.settled();
        List<RecordedRequest> writes = QuietWindow.of(context).writes();
        context.measurements()
                .count(
                        "writes of slices in %d s"
                                .formatted(QuietWindow.WITHOUT_WRITES.toSeconds()),
                        writes.size(),
                        0);
        Violation.unless(writes.isEmpty())
                .because(
                        "no device was changed within %d s, and %s: %s",
                        QuietWindow.WITHOUT_WRITES.toSeconds(),
                        SliceRepairRules.words(writes),
                        writes.isEmpty() ? "" : cut(writes.get(0).body()));
    }

    private static String cut(String body) {
        return body.length() > 1000 ? body.substring(0, 1000) + "…" : body;
    }

    @Rule("DRA-SLICE-07")
    @ExecutionGroup.On(ExecutionGroup.SLICES)
    void aRestartWritesNothing() throws InterruptedException {
        Map<String, String> before = publishing.settled().versions();
        int number = context.proxy().lastNumber();
        for (int i = 0; i < STOPS + KILLS; i++) {
            boolean isKill = i >= STOPS;
            if (isKill) {
                context.driver().restartAfterKill();
            } else {
                context.driver().restart();
            }
            Duration look = Duration.ofSeconds(i == STOPS + KILLS - 1 ? 5 : 1);
            boolean wrote = publishing.writesWithin(number, look);
            context.measurements()
                    .count(
                            "writes of slices by restarts",
                            publishing.writesAfter(number).size(),
                            0);
            if (wrote) {
                throw new Violation(
                        "a restart (%s) with unchanged devices must not write slices: %s; before: %s, after: %s",
                        isKill ? "SIGKILL" : "SIGTERM",
                        SliceRepairRules.words(publishing.writesAfter(number)),
                        before,
                        publishing.now().versions());
            }
        }
        Violation.unless(publishing.now().versions().equals(before))
                .because(
                        "restarts changed slices, though the driver wrote none through the proxy; before: %s, after: %s",
                        before, publishing.now().versions());
    }
}
