// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Calls that suspend or resume a provider, one at a time, on a thread of their own.
 *
 * <p>One that hangs in the hardware does not hold up its caller, who goes on without the result and
 * asks again. Used on one thread.
 */
final class Switches {

    /** A call that takes longer is left alone until the caller's next look. */
    private static final Duration WAIT = Duration.ofMillis(200);

    private final Executor threads = ShortLivedThreads.unlimited("dra4j-suspend");
    private @Nullable FutureTask<Boolean> running;

    /** Work that may throw anything. */
    @FunctionalInterface
    interface Switch {
        /** Does it. */
        void run() throws Exception;
    }

    /**
     * Starts a call, unless an earlier one is still in progress, and waits for a moment.
     *
     * @throws Exception what the call has thrown, or an earlier one that took long
     */
    void run(Switch next) throws Exception {
        finish();
        FutureTask<Boolean> now = running;
        if (now == null) {
            now = started(next);
            running = now;
        }
        await(now);
    }

    /**
     * Forgets a call that took long, and has ended since.
     *
     * @throws Exception what it has thrown
     */
    void finish() throws Exception {
        FutureTask<Boolean> late = running;
        if (late != null && late.isDone()) {
            await(late);
        }
    }

    private void await(FutureTask<Boolean> now) throws Exception {
        try {
            now.get(WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the driver ends
            return;
        } catch (ExecutionException e) {
            running = null;
            throw e.getCause() instanceof Exception known ? known : e;
        }
        running = null;
    }

    private FutureTask<Boolean> started(Switch next) {
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            next.run();
            return true;
        });
        threads.execute(task);
        return task;
    }

    /** Returns whether a call is in progress. */
    boolean isRunning() {
        return running != null && !running.isDone();
    }
}
