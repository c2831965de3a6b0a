// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A period without calls, in which everything that the driver does is recorded: one for all rules
 * about it, because it is long by contract.
 */
public record QuietWindow(
        Publishing publishing,
        SeenPools before,
        Instance instance,
        int number,
        long begin,
        Optional<OpenHealthStream> health) {

    /** Contract: twice the time after which a helper looks again, and some more. */
    public static final Duration WITHOUT_WRITES = Duration.ofSeconds(75);

    /** Contract: three times the time after which an entry of health expires. */
    public static final Duration HEALTH = Duration.ofSeconds(90);

    private static QuietWindow begun(TestContext context, SeenPools before) {
        Instance instance = context.driver().current();
        Optional<OpenHealthStream> health =
                HealthStreams.versions(context).stream().findFirst().map(version -> open(context, version));
        Idle.await(context);
        int number = context.proxy().lastNumber();
        return new QuietWindow(new Publishing(context), before, instance, number, System.nanoTime(), health);
    }

    private static OpenHealthStream open(TestContext context, OpenHealthStream.Version version) {
        return context.kubelet().watchHealth(context.place().driver(), version);
    }

    /** The window of a test context, or the next one if the driver was restarted since. */
    public static QuietWindow of(TestContext context) throws InterruptedException {
        SeenPools before = new Publishing(context).now();
        QuietWindow window = context.shared(QuietWindow.class, () -> begun(context, before));
        return window.instance == context.driver().current() ? window : begun(context, before);
    }

    private Duration left(Duration window) {
        Duration left = window.minusNanos(System.nanoTime() - begin);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** The writes within the window; waits for the first of them, or for its end. */
    public List<RecordedRequest> writes() {
        publishing.writesWithin(number, left(WITHOUT_WRITES));
        return publishing.writesAfter(number);
    }

    /** All messages about health within the window; waits for its end, or for the end of the stream. */
    public List<OpenHealthStream.Report> reports() throws InterruptedException {
        OpenHealthStream watch = health.orElseThrow();
        watch.awaitEnd(left(HEALTH));
        return watch.reports();
    }
}
