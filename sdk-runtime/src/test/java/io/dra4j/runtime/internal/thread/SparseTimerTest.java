// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SparseTimerTest {

    private static final int LONG = 3600;

    private final ScheduledExecutorService timer = ShortLivedThreads.upkeep("sparse");

    @Test
    void hasAThreadOnlyWhileATaskRuns() throws Exception {
        Thread first =
                timer.schedule(Thread::currentThread, 1, TimeUnit.MILLISECONDS).get();
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

        assertThat(List.of(order.take(), order.take(), order.take())).containsExactly("first, null", "second", "third");
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

    @Test
    void aTaskThatThrowsLeavesTheOthersRunning() throws Exception {
        timer.execute(() -> {
            throw new AssertionError("not for the thread");
        });

        assertThat(timer.submit(() -> "alive").get()).isEqualTo("alive");
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
