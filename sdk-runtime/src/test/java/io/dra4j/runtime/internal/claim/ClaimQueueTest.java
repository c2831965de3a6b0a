// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** Operations of claims, one after the other, as claim-queue.txt says. */
class ClaimQueueTest implements ScenarioSteps {

    private static final InstantSource CLOCK = InstantSource.system();

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ClaimQueue queue = new ClaimQueue(tasks::add);
    private final List<String> ran = new ArrayList<>();
    private final Map<String, ClaimQueue.Arrival> arrivals = new HashMap<>();
    private Runnable held = () -> {};

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
    void aFailureEndsItsOwnOperationAlone() {
        CompletableFuture<String> failed = queue.submit("a", task(String.class, "input", deadline -> {
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
                queue.submit("a", task(String.class, "input", deadline -> String.valueOf(MDC.get("op.id"))));
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
        Deadline past = Deadline.in(ofSeconds(-5), CLOCK);
        assertThat(past.instant()).isBefore(CLOCK.instant().minusSeconds(4));
        CompletableFuture<String> late =
                queue.submit("a", new ClaimQueue.Task<>(String.class, "input", past, deadline -> "late"));
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

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "submit" -> {
                Class<?> kind = text.equals("unprepare") ? Object.class : String.class;
                submit(words[1], text, kind);
            }
            case "submit-of-other-input" -> queue.submit(words[1], task(String.class, "other input", noted(text)));
            case "arrives" -> arrivals.put(words[1], queue.arrive(words[1].split("/")[0]));
            case "reads" ->
                assertThat(arrivals.get(words[1]).submit(named(text))).isPresent();
            case "is-given-up" ->
                assertThat(arrivals.get(words[1]).submit(named(text))).isEmpty();
            case "leaves" -> arrivals.get(words[1]).close();
            case "idle" -> assertThat(queue.submitIfIdle(words[1], named(text))).isPresent();
            case "busy" -> assertThat(queue.submitIfIdle(words[1], named(text))).isEmpty();
            case "hold-the-first" -> held = tasks.remove();
            case "run-the-first" -> held.run();
            case "run" -> runAll();
            case "may-run" -> assertNumber(tasks.size(), words, text);
            case "ran" -> assertThat(list(ran.stream())).isEqualTo(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("claim-queue.txt")
    void operationsOfAClaimAreInOrder(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void anArrivalIsRefusedIfItsReadEndsAfterAShutdown() {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        ClaimQueue.Arrival arrival = new ClaimQueue(threads).arrive("a");
        threads.shutdown();

        assertThatThrownBy(arrival.submit(named("prepare")).orElseThrow()::join)
                .hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(ran).isEmpty();
    }

    private ClaimQueue.Task<String> named(String name) {
        return named(name, String.class);
    }

    private <T> ClaimQueue.Task<T> named(String name, Class<T> kind) {
        return task(kind, "input", deadline -> kind.cast(noted(name).apply(deadline)));
    }

    private Function<Deadline, String> noted(String name) {
        return deadline -> {
            ran.add(name);
            return new String(name);
        };
    }

    private static <T> ClaimQueue.Task<T> task(Class<T> kind, Object input, Function<Deadline, T> work) {
        return new ClaimQueue.Task<>(kind, input, Deadline.in(ofSeconds(20), CLOCK), work);
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
