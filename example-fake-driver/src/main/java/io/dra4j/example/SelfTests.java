// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests the devices again and again, so that a report is always younger than it is valid.
 *
 * <p>A test that fails leaves no report: the devices become unknown when the last one expires.
 */
final class SelfTests implements AutoCloseable {

    /** The validity of a report: some tests may come late or fail. */
    static final Duration VALID = Duration.ofSeconds(10);

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(SelfTests.class);

    private final SelfTest test;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "self-tests");
        made.setDaemon(true);
        return made;
    });

    private SelfTests(SelfTest test) {
        this.test = test;
    }

    /** Tests all devices, and reports. */
    @FunctionalInterface
    interface SelfTest {
        void run() throws Exception;
    }

    /** Runs the test once, and then from time to time on a thread of its own. */
    static SelfTests start(SelfTest test) {
        SelfTests tests = new SelfTests(test);
        tests.run();
        long millis = INTERVAL.toMillis();
        tests.thread.scheduleWithFixedDelay(tests::run, millis, millis, TimeUnit.MILLISECONDS);
        return tests;
    }

    /** Runs the test between the times. */
    void runNow() {
        try {
            thread.execute(this::run);
        } catch (RejectedExecutionException e) {
            LOG.atDebug().log("No longer testing the devices");
        }
    }

    private void run() {
        try {
            test.run();
        } catch (Exception e) { // a failed test must not prevent the next one
            LOG.atDebug().setCause(e).log("Could not test the devices");
        }
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
