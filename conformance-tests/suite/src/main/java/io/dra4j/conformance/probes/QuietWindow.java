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
public final class QuietWindow {

    /** Contract: twice the time after which a helper looks again, and some more. */
    public static final Duration WITHOUT_WRITES = Duration.ofSeconds(75);

    /** Contract: three times the time after which an entry of health expires. */
    public static final Duration HEALTH = Duration.ofSeconds(90);

    private final Publishing publishing;
    private final SeenPools before;
    private final Instance instance;
    private final int number;
    private final long begin;
    private final Optional<OpenHealthStream> health;

    private QuietWindow(TestContext context, SeenPools before) {
        publishing = new Publishing(context);
        this.before = before;
        instance = context.driver().current();
        health = HealthStreams.versions(context).stream().findFirst().map(v -> open(context, v));
        Idle.await(context);
        number = context.proxy().lastNumber();
        begin = System.nanoTime();
    }

    private static OpenHealthStream open(TestContext context, OpenHealthStream.Version version) {
        return context.kubelet().watchHealth(context.place().driver(), version);
    }

    /** The window of a test context, or the next one if the driver was restarted since. */
    public static QuietWindow of(TestContext context) throws InterruptedException {
        SeenPools before = new Publishing(context).now();
        QuietWindow window = context.shared(QuietWindow.class, () -> new QuietWindow(context, before));
        return window.instance == context.driver().current() ? window : new QuietWindow(context, before);
    }

    public SeenPools before() {
        return before;
    }

    /** The stream of the driver's health, which is open all the time. */
    public Optional<OpenHealthStream> health() {
        return health;
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
