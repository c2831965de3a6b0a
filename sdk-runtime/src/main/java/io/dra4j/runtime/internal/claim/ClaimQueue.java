// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Runs the operations of one claim sequentially, and those of different claims in parallel.
 *
 * <p>Operations of a claim run in the order in which they arrived. An operation equal to the last one joins it, and
 * extends its deadline: the kubelet repeats a call that it cancelled, and the work must be done once. No operation
 * waits in the queue for the API server: a prepare {@linkplain #arrive arrives}, reads what it needs, and is then
 * submitted; an unprepare that arrives in between overtakes it, and the prepare is dropped, or it would restore a claim
 * that the kubelet has finished with. Thread-safe.
 */
final class ClaimQueue {

    private final Executor executor;
    private final Map<String, Operation<?>> last = new HashMap<>(); // guarded by this
    private final Map<String, List<Arrival>> arrivals = new HashMap<>(); // guarded by this

    ClaimQueue(Executor executor) {
        this.executor = executor;
    }

    /**
     * An operation's work.
     *
     * @param result the type of the result, which distinguishes a prepare from an unprepare
     * @param input the input of the work: equal operations have equal input
     */
    record Task<T>(Class<T> result, Object input, Deadline deadline, Function<Deadline, T> work) {}

    /** Notes that an operation of a claim has arrived and will be submitted, or closed without that. */
    synchronized Arrival arrive(String uid) {
        Arrival arrival = new Arrival(uid);
        arrivals.computeIfAbsent(uid, key -> new ArrayList<>()).add(arrival);
        return arrival;
    }

    /**
     * Submits an operation of a claim, which overtakes those that have only arrived.
     *
     * <p>The future ends exceptionally if the work threw.
     */
    synchronized <T> CompletableFuture<T> submit(String uid, Task<T> task) {
        arrivals.getOrDefault(uid, List.of()).forEach(arrival -> arrival.overtaken = true);
        return enqueue(uid, task, executor);
    }

    /** Submits an operation of a claim if there is no other, and none has arrived. */
    synchronized <T> Optional<CompletableFuture<T>> submitIfIdle(String uid, Task<T> task) {
        return isIdle(uid) ? Optional.of(enqueue(uid, task, executor)) : Optional.empty();
    }

    /** Returns whether a claim has no operation, and none has arrived. */
    synchronized boolean isIdle(String uid) {
        return !last.containsKey(uid) && !arrivals.containsKey(uid);
    }

    private synchronized <T> CompletableFuture<T> enqueue(String uid, Task<T> task, Executor ifFirst) {
        Operation<?> before = last.get(uid);
        if (before != null && before.equalsTask(task)) {
            return before.join(task);
        }
        Supplier<T> traced = inContextOfCaller(() -> task.work().apply(task.deadline()));
        CompletableFuture<?> earlier = before == null
                ? CompletableFuture.completedFuture(null)
                : before.future.handle((ended, failed) -> null);
        // Once its future is done, an operation must no longer be in the queue.
        CompletableFuture<T> future = earlier.thenApplyAsync(
                        ignored -> traced.get(), before == null ? ifFirst : executor)
                .whenComplete((ended, failed) -> forget(uid, task));
        Operation<T> operation = new Operation<>(task, future, new ConcurrentLinkedQueue<>());
        last.put(uid, operation);
        future.whenComplete(operation::end);
        if (future.isDone()) { // refused by the executor: it was not there to be forgotten
            forget(uid, task);
        }
        return future;
    }

    /** Adds the operation id of the call to log lines of the work. */
    static <T> Supplier<T> inContextOfCaller(Supplier<T> work) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        return () -> {
            Map<String, String> before = replaceContext(context);
            try {
                return work.get();
            } finally {
                replaceContext(before);
            }
        };
    }

    private static @Nullable Map<String, String> replaceContext(@Nullable Map<String, String> map) {
        Map<String, String> before = MDC.getCopyOfContextMap();
        MDC.setContextMap(map == null ? Map.of() : map);
        return before;
    }

    private synchronized void forget(String uid, Task<?> task) {
        last.computeIfPresent(uid, (key, newest) -> newest.task == task ? null : newest);
    }

    /** An operation that has arrived, and is not in the queue. */
    final class Arrival implements AutoCloseable {
        private final String uid;
        private boolean overtaken; // guarded by the queue

        private Arrival(String uid) {
            this.uid = uid;
        }

        /** Submits the operation, unless another one overtook it; its caller's thread runs it if it is the first. */
        <T> Optional<CompletableFuture<T>> submit(Task<T> task) {
            boolean isShutDown = executor instanceof ExecutorService threads && threads.isShutdown(); // and refuses it
            List<Runnable> first = new ArrayList<>(); // to be run without the queue's lock
            Optional<CompletableFuture<T>> submitted;
            synchronized (ClaimQueue.this) {
                close();
                submitted = overtaken
                        ? Optional.empty()
                        : Optional.of(enqueue(uid, task, isShutDown ? executor : first::add));
            }
            first.forEach(Runnable::run);
            return submitted;
        }

        /** Withdraws it, if it was not submitted. */
        @Override
        public void close() {
            synchronized (ClaimQueue.this) {
                arrivals.computeIfPresent(uid, (key, left) -> left.remove(this) && left.isEmpty() ? null : left);
            }
        }
    }

    /** A call that waits for the operation of another. */
    private record Joined(CompletableFuture<Object> end, Deadline deadline) {
        /** Ends a call that has been answered long ago, and returns whether it is one. */
        boolean endIfLate() {
            return deadline.left().isZero() && end.completeExceptionally(new TimeoutException("no caller waits"));
        }
    }

    /**
     * An operation that has not ended, and the calls that joined it.
     *
     * <p>It may hang for weeks, and the kubelet repeats its call every minute or two: late calls are not kept.
     */
    private record Operation<T>(Task<T> task, CompletableFuture<T> future, Queue<Joined> joined) {
        <U> CompletableFuture<U> join(Task<U> other) {
            task.deadline().extendTo(other.deadline());
            joined.removeIf(Joined::endIfLate);
            Joined call = new Joined(new CompletableFuture<>(), other.deadline());
            joined.add(call);
            return call.end.thenApply(other.result()::cast);
        }

        void end(@Nullable T result, @Nullable Throwable failure) {
            if (failure == null) {
                joined.forEach(call -> call.end.complete(result));
            } else {
                joined.forEach(call -> call.end.completeExceptionally(failure));
            }
        }

        boolean equalsTask(Task<?> other) {
            return task.result() == other.result() && task.input().equals(other.input());
        }
    }
}
