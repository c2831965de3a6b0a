// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
    void quickTasksShareTwoThreads() {
        Set<String> threads = ConcurrentHashMap.newKeySet();

        for (int i = 0; i < 50; i++) {
            each(() -> threads.add(Thread.currentThread().getName()));
        }

        assertThat(threads).filteredOn(name -> !name.startsWith("called-slow-")).hasSizeBetween(1, 2);
    }

    private void each(Task task) {
        CompletableFuture<?>[] calls = IntStream.range(0, TASKS)
                .mapToObj(i -> CompletableFuture.runAsync(() -> call(task), callers))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(calls).join();
    }

    private void call(Task task) {
        CompletableFuture.runAsync(() -> quietly(task), called).join();
    }

    private static void quietly(Task task) {
        try {
            task.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private interface Task {
        void run() throws Exception;
    }
}
