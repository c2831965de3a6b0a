// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.HealthWatch;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A time in which nobody disturbs the driver, and everything that it does is looked at: one for all
 * rules about it, because it is long by contract.
 */
final class QuietWindow {

    /** Contract: twice the time after which a helper looks again, and some more. */
    static final Duration WITHOUT_WRITES = Duration.ofSeconds(75);

    /** Contract: three times the time after which an entry of health is old. */
    static final Duration HEALTH = Duration.ofSeconds(90);

    private final Publishing publishing;
    private final SeenPools before;
    private final Instance instance;
    private final int number;
    private final long begin;
    private final Optional<HealthWatch> health;

    private QuietWindow(Bench bench, SeenPools before) {
        publishing = new Publishing(bench);
        this.before = before;
        instance = bench.driver().current();
        health = HealthStreams.versions(bench).stream().findFirst().map(v -> open(bench, v));
        publishing.writesWithin(bench.proxy().lastNumber(), Duration.ofSeconds(1)); // first words
        number = bench.proxy().lastNumber();
        begin = System.nanoTime();
    }

    private static HealthWatch open(Bench bench, HealthWatch.Version version) {
        return bench.kubelet().watchHealth(bench.place().driver(), version);
    }

    /** The window of a bench, or its next if the driver was restarted since. */
    static QuietWindow of(Bench bench) throws InterruptedException {
        SeenPools before = new Publishing(bench).now();
        QuietWindow window = bench.shared(QuietWindow.class, () -> new QuietWindow(bench, before));
        return window.instance == bench.driver().current()
                ? window
                : new QuietWindow(bench, before);
    }

    SeenPools before() {
        return before;
    }

    /** The stream of the driver's health, which is open all the time. */
    Optional<HealthWatch> health() {
        return health;
    }

    private Duration left(Duration window) {
        Duration left = window.minusNanos(System.nanoTime() - begin);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** The writes within the window; waits for its end, but no longer than until the first. */
    List<RecordedRequest> writes() {
        publishing.writesWithin(number, left(WITHOUT_WRITES));
        return publishing.writesAfter(number);
    }

    /** All messages about health within the window; waits for its end, or that of the stream. */
    List<HealthWatch.Report> reports() throws InterruptedException {
        HealthWatch watch = health.orElseThrow();
        watch.awaitEnd(left(HEALTH));
        return watch.reports();
    }
}
