// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.error.DraException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The end of the program: the main thread does all the work, and the shutdown hook makes it stop.
 *
 * <p>A JVM that a signal ends has status 143 or 130. The only way to return another status is to halt it at the end of
 * the hook, once the main thread has reported its status.
 */
final class Ending implements DriverListener {

    private static final int FAILURE = 1;
    private static final int LONGEST_STOP_SECONDS = 25; // the kubelet kills a pod after 30

    private final CountDownLatch requested = new CountDownLatch(1);
    private final CompletableFuture<Integer> status = new CompletableFuture<>();

    private volatile boolean isHandled;
    private volatile boolean isOfService;
    private volatile @Nullable DraException failure;

    /** Lets a signal ask the main thread to stop; otherwise it ends the JVM, as in programs that only read. */
    void handleSignals() {
        isHandled = true;
    }

    /** Lets a signal stop a service, whose failures are for its log; those of a command are for people. */
    void handleSignalsOfService() {
        isOfService = true;
        handleSignals();
    }

    boolean isOfService() {
        return isOfService;
    }

    /** Asks the main thread to stop. */
    void request() {
        requested.countDown();
    }

    /** Asks the main thread to stop, because the driver can't continue. */
    @Override
    public void fatal(DraException problem) {
        failure = problem;
        request();
    }

    void throwFailure() {
        DraException problem = failure;
        if (problem != null) {
            throw problem;
        }
    }

    void awaitRequest() {
        try {
            requested.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // an interrupt of the main thread means stop
        }
    }

    /** Waits, and returns whether the end was requested. */
    boolean isRequestedWithin(Duration time) {
        try {
            return requested.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    void reached(int exitStatus) {
        status.complete(exitStatus);
    }

    void endJvm() {
        request();
        if (!isHandled) {
            return;
        }
        Runtime.getRuntime()
                .halt(status.completeOnTimeout(FAILURE, LONGEST_STOP_SECONDS, TimeUnit.SECONDS)
                        .join());
    }
}
