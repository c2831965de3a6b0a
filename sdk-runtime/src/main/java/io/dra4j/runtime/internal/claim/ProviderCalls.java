// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** Calls the provider for claims, on threads that its native code may hold as long as it likes. */
public final class ProviderCalls {

    private final Semaphore permits;
    private final Executor threads = ShortLivedThreads.ofNativeCode("dra4j-provider");

    /** Work of the provider for a claim. */
    @FunctionalInterface
    interface Work<T> {
        /** Does it, in the context of its call. */
        T in(ClaimContext call) throws Exception;
    }

    /**
     * Allows a number of calls at a time.
     *
     * @param permits one for each call
     */
    public ProviderCalls(Semaphore permits) {
        this.permits = permits;
    }

    /**
     * Calls the provider as soon as there is a permit, and waits for it.
     *
     * @param durably writes what the provider checkpoints
     * @throws Exception what the provider throws
     */
    <T> T call(Consumer<ProviderState> durably, Deadline deadline, Work<T> work) throws Exception {
        try (CallContext call = new CallContext(permits, durably, deadline)) {
            return CompletableFuture.supplyAsync(ClaimQueue.inContextOfCaller(() -> result(work, call)), threads)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) e.getCause();
        }
    }

    private static <T> T result(Work<T> work, CallContext call) {
        try {
            return work.in(call);
        } catch (Exception e) { // a provider may throw any
            throw new CompletionException(e);
        }
    }

    /**
     * The context of one call to the provider; when the call has ended, it takes no more.
     *
     * <p>A provider that goes on on a thread of its own would otherwise write into what another
     * operation of the claim does. Thread-safe.
     */
    private static final class CallContext implements ClaimContext, AutoCloseable {

        private final Semaphore permits;
        private final Consumer<ProviderState> durably;
        private final Deadline deadline;
        private boolean ended; // guarded by this

        /** Starts a call, as soon as there is a permit. */
        CallContext(Semaphore permits, Consumer<ProviderState> durably, Deadline deadline) {
            permits.acquireUninterruptibly();
            this.permits = permits;
            this.durably = durably;
            this.deadline = deadline;
        }

        @Override
        public synchronized void checkpoint(ProviderState state) {
            if (ended) {
                throw new DraException("The call that this ClaimContext was given to has ended; checkpoint what is"
                        + " done to hardware before prepare or unprepare returns");
            }
            durably.accept(state);
        }

        @Override
        public Instant deadline() {
            return deadline.instant();
        }

        /** Ends it with its call, after a checkpoint that is being written. */
        @Override
        public synchronized void close() {
            ended = true;
            permits.release();
        }
    }
}
