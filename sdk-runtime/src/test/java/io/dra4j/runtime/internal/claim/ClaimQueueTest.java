// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class ClaimQueueTest {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ClaimQueue queue = new ClaimQueue(tasks::add);
    private final List<String> ran = new ArrayList<>();

    @Test
    void operationsOfOneClaimRunInTheOrderOfTheirSubmission() {
        submit("a", "prepare", String.class);
        submit("a", "unprepare", StringBuilder.class);
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
    void anEqualOperationThatEndedIsRunAgain() {
        submit("a", "prepare", String.class);
        runAll();
        submit("a", "prepare", String.class);
        runAll();

        assertThat(ran).containsExactly("prepare", "prepare");
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
        CompletableFuture<String> failed =
                queue.submit(
                        "a",
                        String.class,
                        () -> {
                            throw new IllegalStateException("boom");
                        });
        submit("a", "unprepare", StringBuilder.class);
        runAll();

        assertThatThrownBy(failed::join).hasRootCauseMessage("boom");
        assertThat(ran).containsExactly("unprepare");
    }

    @Test
    void theWorkCarriesTheOperationIdOfItsCaller() {
        MDC.put("op.id", "7");
        CompletableFuture<String> seen =
                queue.submit("a", String.class, () -> String.valueOf(MDC.get("op.id")));
        MDC.clear();
        runAll();

        assertThat(seen.join()).isEqualTo("7");
        assertThat(MDC.get("op.id")).isNull();
    }

    private <T> CompletableFuture<T> submit(String uid, String name, Class<T> kind) {
        return queue.submit(
                uid,
                kind,
                () -> {
                    ran.add(name);
                    return kind.cast(
                            kind == String.class ? new String("done") : new StringBuilder("done"));
                });
    }

    private void runAll() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
