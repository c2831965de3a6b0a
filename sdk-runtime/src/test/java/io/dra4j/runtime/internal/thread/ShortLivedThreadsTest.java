// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;

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
}
