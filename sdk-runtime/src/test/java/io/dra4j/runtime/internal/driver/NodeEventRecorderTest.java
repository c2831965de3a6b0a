// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Problems that come and go, as node-events.txt says. */
class NodeEventRecorderTest implements ScenarioSteps {

    private final List<String> received = new CopyOnWriteArrayList<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private volatile Instant now = Instant.parse("2026-11-21T00:00:00Z");
    private volatile RuntimeException eventFailure;

    private void recoverable(DraException problem) {
        received.add("recoverable: " + problem.getMessage());
        if (problem.getMessage().equals("throw")) {
            throw problem;
        }
    }

    private void fatal(DraException problem) {
        received.add("fatal: " + problem.getMessage());
    }

    private final NodeEventRecorder board = recorder(this::recoverable);

    private NodeEventRecorder recorder(Consumer<DraException> recoverable) {
        DriverSettings settings = new DriverSettings("d.example.com", "node-a");
        settings.onRecoverable = recoverable;
        settings.onFatal = this::fatal;
        settings.clock = () -> now;
        return new NodeEventRecorder(settings, this::create, Meters.none());
    }

    private void create(boolean warning, String reason, String message) {
        events.add((warning ? "Warning " : "Normal ") + reason + " " + message);
        if (eventFailure != null) {
            throw eventFailure;
        }
    }

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "event" -> board.record(new DriverEvent(Reason.valueOf(words[1]), words[2], text));
            case "advance" -> now = now.plus(Duration.parse("PT" + words[1]));
            case "clock-is-set-back" -> now = now.minus(Duration.ofDays(30));
            case "server-fails" -> eventFailure = new ClusterException("no", 500, null);
            case "events-are-forbidden" -> eventFailure = new ClusterException.Forbidden("no", "create", "events");
            case "close" -> board.close();
            case "heard" -> assertThat(list(received.stream())).isEqualTo(text);
            case "heard-of" -> assertNumber(received.size(), words, text);
            case "recorded" -> assertThat(list(events.stream())).isEqualTo(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("node-events.txt")
    void problemsGoToTheListenerAndOntoTheNode(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void aListenerThatHangsDelaysNoOther() {
        CountDownLatch released = new CountDownLatch(1);
        NodeEventRecorder slow = recorder(problem -> await(released));
        for (int i = 0; i < 1000; i++) {
            slow.record(new DriverEvent(Reason.INVALID_POOL, "node-" + i, "bad"));
        }
        assertThat(events).isEmpty();

        released.countDown();
        slow.close();

        assertThat(events).hasSizeBetween(1, 101);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
