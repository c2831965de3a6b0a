// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class ClaimQueueTest {

    private static final InstantSource CLOCK = InstantSource.system();

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ClaimQueue queue = new ClaimQueue(tasks::add);
    private final List<String> ran = new ArrayList<>();

    @Test
    void operationsOfOneClaimRunInTheOrderOfTheirSubmission() {
        submit("a", "prepare", String.class);
        submit("a", "unprepare", Object.class);
        submit("a", "prepare again", String.class);

        assertThat(tasks).as("only the first may run").hasSize(1);
        runAll();

        assertThat(ran).containsExactly("prepare", "unprepare", "prepare again");
    }

    @Test
    void anOperationThatEqualsTheLastJoinsIt() {
        CompletableFuture<String> first = submit("a", "prepare", String.class);
        CompletableFuture<String> second = submit("a", "prepare", String.class);
        runAll();

        assertThat(ran).containsExactly("prepare");
        assertThat(second.join()).isSameAs(first.join());
    }

    @Test
    void oneWhoSeesTheEndOfAnOperationDoesNotJoinItAnyMore() {
        CompletableFuture<String> next =
                submit("a", "prepare", String.class).thenCompose(ended -> submit("a", "prepare", String.class));
        runAll();

        assertThat(next).isCompleted();
        assertThat(ran).containsExactly("prepare", "prepare");
    }

    @Test
    void anOperationThatTheExecutorRefusesLeavesNothing() {
        ClaimQueue stopped = new ClaimQueue(task -> {
            throw new RejectedExecutionException("stopped");
        });

        assertThat(stopped.submit("a", named("x"))).isCompletedExceptionally();
        assertThat(stopped.submitIfIdle("a", named("y"))).isPresent();
    }

    @Test
    void claimsDoNotWaitForOneAnother() {
        submit("a", "hangs", String.class);
        Runnable hanging = tasks.remove();
        submit("b", "runs", String.class);
        runAll();

        assertThat(ran).containsExactly("runs");
        hanging.run();
        assertThat(ran).containsExactly("runs", "hangs");
    }

    @Test
    void aFailureEndsItsOwnOperationAlone() {
        CompletableFuture<String> failed = queue.submit("a", task(String.class, deadline -> {
            throw new IllegalStateException("boom");
        }));
        submit("a", "unprepare", Object.class);
        runAll();

        assertThatThrownBy(failed::join).hasRootCauseMessage("boom");
        assertThat(ran).containsExactly("unprepare");
    }

    @Test
    void theWorkCarriesTheOperationIdOfItsCaller() {
        MDC.put("op.id", "7");
        CompletableFuture<String> seen =
                queue.submit("a", task(String.class, deadline -> String.valueOf(MDC.get("op.id"))));
        MDC.clear();
        runAll();

        assertThat(seen.join()).isEqualTo("7");
        assertThat(MDC.get("op.id")).isNull();
    }

    @Test
    void anOperationIsAwaitedUntilAllItsCallersHaveLeft() {
        AtomicBoolean firstHasLeft = new AtomicBoolean();
        AtomicBoolean secondHasLeft = new AtomicBoolean();
        List<Boolean> awaited = new ArrayList<>();
        for (AtomicBoolean hasLeft : List.of(firstHasLeft, secondHasLeft)) {
            Deadline until = Deadline.at(CLOCK.instant().plusSeconds(20), CLOCK, hasLeft::get);
            queue.submit("a", new ClaimQueue.Task<>(String.class, "input", until, deadline -> {
                firstHasLeft.set(true);
                awaited.add(deadline.isAwaited());
                secondHasLeft.set(true);
                awaited.add(deadline.isAwaited());
                return "done";
            }));
        }
        runAll();

        assertThat(awaited).containsExactly(true, false);
    }

    @Test
    void aCallThatIsLateIsNotKeptByTheOperationThatItJoined() {
        submit("a", "hangs", String.class);
        CompletableFuture<String> late = queue.submit(
                "a",
                new ClaimQueue.Task<>(String.class, "input", Deadline.in(Duration.ZERO, CLOCK), deadline -> "late"));
        CompletableFuture<String> next = submit("a", "next", String.class);

        assertThat(late).isCompletedExceptionally();
        runAll();
        assertThat(next).isCompletedWithValue("hangs");
    }

    @Test
    void anOperationThatJoinsExtendsTheDeadlineOfTheOther() {
        List<Duration> left = new ArrayList<>();
        for (int seconds : new int[] {20, 100, 50}) {
            queue.submit(
                    "a",
                    new ClaimQueue.Task<>(
                            String.class, "input", Deadline.in(Duration.ofSeconds(seconds), CLOCK), deadline -> {
                                left.add(deadline.left());
                                return "done";
                            }));
        }
        runAll();

        assertThat(left).singleElement().satisfies(d -> assertThat(d).isBetween(ofSeconds(60), ofSeconds(100)));
    }

    @Test
    void anOperationOfOtherInputDoesNotJoin() {
        submit("a", "one", String.class);
        queue.submit(
                "a", new ClaimQueue.Task<>(String.class, "other input", Deadline.in(ofSeconds(9), CLOCK), deadline -> {
                    ran.add("two");
                    return "";
                }));
        runAll();

        assertThat(ran).containsExactly("one", "two");
    }

    @Nested
    class AnArrival {

        @Test
        void isRunByItsCallerIfItIsTheFirst() {
            assertThat(queue.arrive("a").submit(named("prepare"))).isPresent();

            assertThat(tasks).as("hand-overs to another thread").isEmpty();
            assertThat(ran).containsExactly("prepare");
        }

        @Test
        void isSubmittedInItsTurn() {
            submit("a", "unprepare", Object.class);
            assertThat(queue.arrive("a").submit(named("prepare"))).isPresent();
            assertThat(ran).isEmpty();
            runAll();

            assertThat(ran).containsExactly("unprepare", "prepare");
        }

        @Test
        void isGivenUpIfAnOperationOfTheClaimComesMeanwhile() {
            ClaimQueue.Arrival arrival = queue.arrive("a");
            submit("a", "unprepare", Object.class);
            runAll();

            assertThat(arrival.submit(named("prepare"))).isEmpty();
            assertThat(queue.arrive("a").submit(named("prepare again"))).isPresent();
            runAll();
            assertThat(ran).containsExactly("unprepare", "prepare again");
        }

        @Test
        void isNotOvertakenByAnotherClaimOrAnotherArrival() {
            ClaimQueue.Arrival arrival = queue.arrive("a");
            submit("b", "unprepare", Object.class);
            queue.arrive("a").submit(named("first"));
            runAll();

            assertThat(arrival.submit(named("second"))).isPresent();
        }

        @Test
        void isRefusedIfItsReadEndsAfterAShutdown() {
            ExecutorService threads = Executors.newSingleThreadExecutor();
            ClaimQueue.Arrival arrival = new ClaimQueue(threads).arrive("a");
            threads.shutdown();

            assertThatThrownBy(arrival.submit(named("prepare")).orElseThrow()::join)
                    .hasCauseInstanceOf(RejectedExecutionException.class);
            assertThat(ran).isEmpty();
        }

        @Test
        void isAnOperationAsFarAsIdlenessGoes() {
            ClaimQueue.Arrival arrival = queue.arrive("a");
            assertThat(queue.submitIfIdle("a", named("clean up"))).isEmpty();

            arrival.close();
            assertThat(queue.submitIfIdle("a", named("clean up"))).isPresent();
            assertThat(queue.submitIfIdle("a", named("once more"))).isEmpty();
            runAll();
            assertThat(queue.submitIfIdle("a", named("clean up"))).isPresent();
        }
    }

    private ClaimQueue.Task<String> named(String name) {
        return named(name, String.class);
    }

    private <T> ClaimQueue.Task<T> named(String name, Class<T> kind) {
        return task(kind, deadline -> {
            ran.add(name);
            return kind.cast(new String(name));
        });
    }

    private static <T> ClaimQueue.Task<T> task(Class<T> kind, Function<Deadline, T> work) {
        return new ClaimQueue.Task<>(kind, "input", Deadline.in(ofSeconds(20), CLOCK), work);
    }

    private <T> CompletableFuture<T> submit(String uid, String name, Class<T> kind) {
        return queue.submit(uid, named(name, kind));
    }

    private void runAll() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
