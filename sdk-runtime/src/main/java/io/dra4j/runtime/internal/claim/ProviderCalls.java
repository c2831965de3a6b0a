// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls the provider for claims, on threads that its native code may block for any length of time.
 *
 * <p>Serialized calls take turns in this process, in order of arrival, and then take a lock that the other process of a
 * rolling update waits for; the claim's lock is already held, and the call takes the journal's ({@link LockFile}
 * documents the order). Thread-safe.
 */
@SuppressWarnings("try") // the lock is held, but not used
public final class ProviderCalls {

    private static final Duration LEAST_WAIT = Duration.ofSeconds(45);

    private final Semaphore permits;
    private final @Nullable LockFile node;
    private final Executor threads = ShortLivedThreads.ofNativeCode("dra4j-provider");
    private volatile boolean isClosed;

    /** Work of the provider for a claim. */
    @FunctionalInterface
    interface Work<T> {
        /** Runs the work, in the context of its call. */
        T in(ClaimContext call) throws Exception;
    }

    /** Work that may fail. */
    @FunctionalInterface
    interface Fallible<T, E extends Exception> {
        T get() throws E;
    }

    /**
     * Creates the calls.
     *
     * @param node serializes them on the node; {@code null} to let them run in parallel
     */
    public ProviderCalls(@Nullable LockFile node) {
        this.node = node;
        this.permits = new Semaphore(node == null ? Integer.MAX_VALUE : 1, true);
    }

    /**
     * Calls the provider when it is its turn, and waits for it.
     *
     * @param durably writes what the provider checkpoints
     * @throws Exception what the provider throws, and a {@link DraException} if another process is still in a call at
     *     the deadline and after a minimum wait, or these calls are closed
     */
    <T> T call(Consumer<ProviderState> durably, Deadline deadline, Work<T> work) throws Exception {
        permits.acquireUninterruptibly();
        try (NodeLock turn = turn(deadline);
                CallContext call = new CallContext(durably, deadline)) {
            requireOpen();
            return apart(() -> work.in(call));
        } finally {
            permits.release();
        }
    }

    /**
     * Runs work that may hang, such as writing a file, where it delays no other claim, and waits for it.
     *
     * <p>It needs no turn: such work is not serialized.
     *
     * @throws E what the work throws
     */
    @SuppressWarnings("unchecked") // the work throws no other checked exception
    <T, E extends Exception> T apart(Fallible<T, E> work) throws E {
        try {
            return CompletableFuture.supplyAsync(ClaimQueue.inContextOfCaller(() -> result(work)), threads)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (E) e.getCause();
        }
    }

    /** Begins no further calls, not even waiting ones; calls in progress continue. */
    void close() {
        isClosed = true;
    }

    private void requireOpen() {
        if (isClosed) {
            throw new DraException("the driver is stopping; the next attempt continues with the claim");
        }
    }

    private @Nullable NodeLock turn(Deadline deadline) {
        if (node == null) {
            return null;
        }
        Deadline least = Deadline.in(LEAST_WAIT, InstantSource.system());
        return node.call(
                () -> {
                    requireOpen();
                    return deadline.left().isZero() && least.left().isZero();
                },
                holder ->
                        "the driver works on one claim at a time, and %s has worked on another one until now; the next attempt continues"
                                .formatted(holder));
    }

    private static <T> T result(Fallible<T, ?> work) {
        try {
            return work.get();
        } catch (Exception e) { // a provider may throw anything
            throw new CompletionException(e);
        }
    }

    /**
     * The context of one call to the provider; it is closed when the call has ended.
     *
     * <p>A provider that continues on its own thread would otherwise interfere with a later operation on the claim.
     * Thread-safe.
     */
    private static final class CallContext implements ClaimContext, AutoCloseable {

        private final Consumer<ProviderState> durably;
        private final Deadline deadline;
        private boolean ended; // guarded by this

        CallContext(Consumer<ProviderState> durably, Deadline deadline) {
            this.durably = durably;
            this.deadline = deadline;
        }

        @Override
        public synchronized void checkpoint(ProviderState state) {
            if (ended) {
                throw new DraException("The call that received this ClaimContext has ended; checkpoint what is"
                        + " done to hardware before prepare or unprepare returns");
            }
            durably.accept(state);
        }

        @Override
        public Instant deadline() {
            return deadline.instant();
        }

        /** Ends the context with its call, after a checkpoint that is being written. */
        @Override
        public synchronized void close() {
            ended = true;
        }
    }

    /**
     * Turns what a provider throws into a failure of the claim that it was called for: a {@link DraException} unchanged;
     * for anything else the pod's owner sees only that the driver failed.
     *
     * @throws VirtualMachineError if it is one, except for the end of a deep recursion: the process can't safely
     *     continue with the claim
     */
    static DraException failure(String what, Throwable thrown) {
        if (thrown instanceof VirtualMachineError broken && !(broken instanceof StackOverflowError)) {
            throw broken;
        }
        return thrown instanceof DraException known
                ? known
                : new DraException("the driver " + what + "; see its log", thrown);
    }
}
