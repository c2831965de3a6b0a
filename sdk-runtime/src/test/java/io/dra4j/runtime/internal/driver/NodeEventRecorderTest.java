// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class NodeEventRecorderTest {

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

    private void take(Reason reason, String subject, String message) {
        board.record(new DriverEvent(reason, subject, message));
    }

    @Test
    void problemsGoToTheListenerAndOntoTheNodeIfItCanBeReachedAndTheirEndOntoTheNodeAlone() {
        take(Reason.INVALID_POOL, "node-a", "bad");
        take(Reason.API_MISSING, "server", "old");
        take(Reason.CLUSTER_UNREACHABLE, "server", "down");
        take(Reason.PUBLISHING_RECOVERED, "node-a", "good");
        board.close();

        assertThat(received).containsExactly("recoverable: bad", "fatal: old", "recoverable: down");
        assertThat(events)
                .containsExactly(
                        "Warning InvalidPool bad", "Warning DraApiMissing old", "Normal PublishingRecovered good");
    }

    @Test
    void whatRepeatsIsToldAgainAfterHalfAnHour() {
        take(Reason.INVALID_POOL, "node-a", "bad");
        take(Reason.INVALID_POOL, "node-b", "bad");
        take(Reason.INVALID_POOL, "node-a", "bad");
        now = now.plus(Duration.ofMinutes(29));
        take(Reason.INVALID_POOL, "node-a", "bad");
        now = now.plus(Duration.ofMinutes(1));
        take(Reason.INVALID_POOL, "node-a", "bad");
        take(Reason.INVALID_POOL, "node-a", "worse");
        board.close();

        assertThat(received)
                .containsExactly("recoverable: bad", "recoverable: bad", "recoverable: bad", "recoverable: worse");
    }

    @Test
    void aProblemThatChangesAllTheTimeMakesOneEventAMinute() {
        for (int second = 0; second < 90; second++) {
            take(Reason.INVALID_POOL, "node-a", "bad " + second);
            now = now.plusSeconds(1);
        }
        board.close();

        assertThat(received).hasSize(90);
        assertThat(events).containsExactly("Warning InvalidPool bad 0", "Warning InvalidPool bad 60");
    }

    @Test
    void aClockThatIsSetBackDelaysNothing() {
        take(Reason.INVALID_POOL, "node-a", "bad");
        now = now.minus(Duration.ofDays(30));
        take(Reason.INVALID_POOL, "node-a", "bad");
        board.close();

        assertThat(received).hasSize(2);
        assertThat(events).hasSize(2);
    }

    @Test
    void aListenerOrAServerThatFailsStopsNothing() {
        eventFailure = new ClusterException("forbidden", 403, null);
        take(Reason.INVALID_POOL, "node-a", "throw");
        take(Reason.INVALID_POOL, "node-b", "next");
        board.close();

        assertThat(received).containsExactly("recoverable: throw", "recoverable: next");
        assertThat(events).hasSize(2);
    }

    @Test
    void eventsThatAreForbiddenAreTriedAgainAfterTenMinutes() {
        eventFailure = new ClusterException.Forbidden("no", "create", "events");
        for (int minute = 0; minute < 21; minute++) {
            take(Reason.INVALID_POOL, "node-a", "bad " + minute);
            now = now.plusSeconds(60);
        }
        board.close();

        assertThat(received).hasSize(21);
        assertThat(events)
                .containsExactly(
                        "Warning InvalidPool bad 0", "Warning InvalidPool bad 10", "Warning InvalidPool bad 20");
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
