// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Restarts with unchanged devices, once for all rules about them: enough to detect a random order.
 *
 * @param before the pools before the first
 * @param after the pools after each, by its name in messages
 */
public record Restarts(SeenPools before, List<After> after) {

    private static final int STOPS = 3;
    private static final int KILLS = 2;
    private static final Duration LAST_LOOK = Duration.ofSeconds(5);

    /** The pools after a restart, by its name, and the writes of slices since before the first. */
    public record After(String restart, SeenPools pools, List<RecordedRequest> writes) {}

    public static Restarts of(TestContext context) throws InterruptedException {
        Publishing publishing = new Publishing(context);
        SeenPools before = publishing.idle();
        int number = context.proxy().lastNumber();
        List<After> after = new ArrayList<>();
        for (int i = 1; i <= STOPS + KILLS; i++) {
            boolean isLast = i == STOPS + KILLS;
            if (i <= STOPS) {
                context.driver().restart();
            } else {
                context.driver().restartAfterKill();
            }
            Idle.await(context);
            publishing.writesWithin(number, isLast ? LAST_LOOK : Duration.ZERO);
            publishing.await(Publishing.like(before), context.timeouts().repair());
            String restart = "restart %d of %d (%s)".formatted(i, STOPS + KILLS, i <= STOPS ? "SIGTERM" : "SIGKILL");
            after.add(new After(restart, publishing.now(), publishing.writesAfter(number)));
        }
        return new Restarts(before, after);
    }
}
