// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/** The end of a driver's start, which comes after its registration. */
public final class Idle {

    private static final Duration QUIET = Duration.ofSeconds(1);

    private Idle() {}

    /**
     * Waits until the driver is idle: it has looked at its slices since its start, its pools are
     * complete, if it publishes any, and it has sent no request for a second. The wait for one that is never quiet is
     * limited by its start time.
     */
    public static void await(TestContext context) {
        Duration limit = context.timeouts().repair();
        long end = System.nanoTime() + limit.toNanos();
        if (context.awaitPools()) {
            Predicate<RecordedRequest> ofThisStart =
                    request -> !request.at().isBefore(context.driver().started());
            context.isRequested(
                    context.timeouts().soon(), Requests.to("resourceslices").and(ofThisStart));
        }
        int seen = context.proxy().lastNumber();
        while (context.requested(QUIET, since(seen)) && System.nanoTime() < end) {
            seen = context.proxy().lastNumber();
        }
    }

    private static Predicate<List<RecordedRequest>> since(int number) {
        return all -> all.size() > number;
    }
}
