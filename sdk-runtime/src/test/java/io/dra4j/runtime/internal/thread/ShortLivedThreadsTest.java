// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShortLivedThreadsTest {

    private static final int TASKS = 8;

    private final ExecutorService callers = ShortLivedThreads.waiting("caller");
    private final Executor called = ShortLivedThreads.ofNativeCode("called");

    @Test
    void tasksThatWaitForOneAnotherAllHaveAThread() {
        CyclicBarrier all = new CyclicBarrier(TASKS);

        assertThatCode(() -> each(() -> all.await(10, TimeUnit.SECONDS))).doesNotThrowAnyException();
    }

    @Test
    @EnabledForJreRange(minVersion = 24) // those of before have no virtual threads that wait
    void quickTasksShareTwoThreads() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();

        for (int i = 0; i < 50; i++) {
            each(() -> threads.add(Thread.currentThread().getName()));
        }

        assertThat(threads).filteredOn(name -> !name.startsWith("called-slow-")).hasSizeBetween(1, 2);
    }

    @Test
    void tasksThatHangAreWaitedForOnce() {
        AtomicInteger waits = new AtomicInteger();
        ShortLivedThreads.Turns turns = new ShortLivedThreads.Turns(new Semaphore(2) {
            @Override
            public boolean tryAcquire(long timeout, TimeUnit unit) {
                return tryAcquire() || waits.incrementAndGet() < 0;
            }
        });
        List<Object> hung = List.of(turns.take(), turns.take());

        for (int i = 0; i < 32; i++) {
            turns.end(turns.take());
        }
        assertThat(waits).hasValue(1);

        hung.forEach(turns::end); // which have no turn to give back
        for (int i = 0; i < 32; i++) {
            turns.take();
        }
        assertThat(waits).as("two more begin after each wait").hasValue(16);
    }

    private void each(Callable<?> task) throws Exception {
        Callable<Object> call = () -> {
            FutureTask<?> run = new FutureTask<>(task);
            called.execute(run);
            return run.get();
        };
        for (Future<?> ended : callers.invokeAll(Collections.nCopies(TASKS, call))) {
            ended.get();
        }
    }

    @Nested
    class Upkeep {

        private static final int LONG = 3600;

        private final ScheduledExecutorService timer = ShortLivedThreads.upkeep("sparse");

        @Test
        void hasAThreadOnlyWhileATaskRuns() throws Exception {
            Thread first = timer.schedule(Thread::currentThread, 1, TimeUnit.MILLISECONDS)
                    .get();
            first.join();
            Thread second = timer.submit(Thread::currentThread).get();

            assertThat(second).isNotSameAs(first);
            assertThat(List.of(first, second))
                    .allMatch(Thread::isDaemon)
                    .allMatch(t -> t.getName().equals("sparse"));
        }

        @Test
        void runsOneTaskAtATimeInTheOrderInWhichTheyAreDue() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            BlockingQueue<String> order = new ArrayBlockingQueue<>(3);
            timer.execute(() -> {
                order.add("first, " + catchThrowable(go::await));
            });
            timer.execute(() -> order.add("second"));
            timer.schedule(() -> order.add("third"), 0, TimeUnit.SECONDS);

            assertThat(order).isEmpty();
            go.countDown();

            assertThat(List.of(order.take(), order.take(), order.take()))
                    .containsExactly("first, null", "second", "third");
        }

        @Test
        void aPeriodicTaskRunsAgainUntilItFails() throws Exception {
            AtomicInteger runs = new AtomicInteger();
            ScheduledFuture<?> task = timer.scheduleWithFixedDelay(
                    () -> {
                        if (runs.incrementAndGet() == 3) {
                            throw new IllegalStateException("broken");
                        }
                    },
                    0,
                    1,
                    TimeUnit.MILLISECONDS);

            assertThatThrownBy(task::get).isInstanceOf(ExecutionException.class).hasMessageContaining("broken");
            assertThat(runs).hasValue(3);
            assertThat(timer.submit(() -> "alive").get()).isEqualTo("alive");
        }

        @ParameterizedTest
        @ValueSource(classes = {OutOfMemoryError.class, NoClassDefFoundError.class, StackOverflowError.class})
        void aPeriodicTaskThatEndsWithAnErrorRunsAgain(Class<? extends Error> error) throws Exception {
            CountDownLatch runs = new CountDownLatch(2);
            Error thrown = error.getConstructor().newInstance();
            timer.scheduleWithFixedDelay(
                    () -> {
                        runs.countDown();
                        throw thrown;
                    },
                    0,
                    1,
                    TimeUnit.MILLISECONDS);

            assertThat(runs.await(20, TimeUnit.SECONDS)).isTrue();
            timer.shutdown();
        }

        @Test
        void aCancelledTaskDoesNotRun() throws Exception {
            ScheduledFuture<?> task = timer.schedule(() -> {}, LONG, TimeUnit.SECONDS);

            assertThat(task.getDelay(TimeUnit.SECONDS)).isBetween(LONG - 60L, (long) LONG);
            assertThat(task.cancel(false)).isTrue();
            timer.shutdown();

            assertThat(timer.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(task::get).isInstanceOf(CancellationException.class);
        }

        @Test
        void aShutdownDropsWhatWaitsAndWhatIsDueAndLetsTheRunningTaskEnd() throws Exception {
            CountDownLatch started = new CountDownLatch(1);
            CompletableFuture<String> go = new CompletableFuture<>();
            CompletableFuture<String> ended = new CompletableFuture<>();
            timer.execute(() -> {
                started.countDown();
                ended.complete(go.join());
            });
            ScheduledFuture<?> later = timer.schedule(() -> {}, LONG, TimeUnit.SECONDS);
            AtomicInteger runs = new AtomicInteger();
            timer.execute(runs::incrementAndGet);
            started.await();

            timer.shutdown();

            assertThat(later.isCancelled()).isTrue();
            assertThat(timer.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
            assertThatThrownBy(() -> timer.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
            assertThatThrownBy(() -> timer.schedule(() -> {}, 0, TimeUnit.SECONDS))
                    .isInstanceOf(RejectedExecutionException.class);
            go.complete("whole");
            assertThat(ended.get()).isEqualTo("whole");
            assertThat(timer.awaitTermination(LONG, TimeUnit.SECONDS)).isTrue();
            assertThat(runs).hasValue(0);
        }

        @Test
        void anImmediateShutdownInterruptsTheRunningTaskAndDropsDueOnes() throws Exception {
            CompletableFuture<Throwable> ended = new CompletableFuture<>();
            CountDownLatch started = new CountDownLatch(1);
            timer.execute(() -> {
                started.countDown();
                ended.complete(catchThrowable(() -> new CountDownLatch(1).await()));
            });
            timer.execute(() -> {});
            started.await();

            assertThat(timer.shutdownNow()).hasSize(1);

            assertThat(ended.get()).isInstanceOf(InterruptedException.class);
            assertThat(timer.awaitTermination(LONG, TimeUnit.SECONDS)).isTrue();
        }

        @Test
        void aTaskWaitsWhileTheProcessHasNoMoreThreads() throws Exception {
            AtomicInteger attempts = new AtomicInteger();
            SparseTimer scarce = new SparseTimer(
                    task -> new Thread(task) {
                        @Override
                        public void start() {
                            if (attempts.incrementAndGet() == 1) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            super.start();
                        }
                    },
                    ShortLivedThreads::after);

            assertThat(scarce.submit(() -> "ran").get()).isEqualTo("ran");
            assertThat(attempts).hasValue(2);
        }
    }
}
