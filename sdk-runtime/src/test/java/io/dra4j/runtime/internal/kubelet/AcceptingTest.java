// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AcceptingTest {

    private final AtomicInteger attempts = new AtomicInteger();
    private final Executor threads = Accepting.threads(task -> {
        if (attempts.incrementAndGet() == 1) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        task.run();
    });

    @Test
    void theLoopWaitsUntilThereIsAThreadForAConnectionAndNoOtherWaits() throws Exception {
        CompletableFuture<String> connection = new CompletableFuture<>();

        threads.execute(() -> threads.execute(() -> connection.complete("served")));

        assertThat(connection.get(10, TimeUnit.SECONDS)).isEqualTo("served");
        assertThat(attempts).hasValue(2);

        attempts.set(0);
        assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(OutOfMemoryError.class);
    }
}
