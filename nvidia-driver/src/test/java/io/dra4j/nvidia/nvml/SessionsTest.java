// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of NVML: how long they last, and what follows them. */
class SessionsTest {

    private static final String UPDATED = "560.35.03";
    private static final int DRIVER_NOT_LOADED = 9;
    private static final int IN_USE = 19;
    private static final int SUCCESS = 0;

    @TempDir
    private Path folder;

    private StandInNode node;
    private NodeState state;

    @AutoClose
    private Nvml nvml;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "l40s");
        state = node.state();
        nvml = node.nvml();
    }

    private boolean isOpen() throws IOException {
        return node.hasSession(ProcessHandle.current().pid());
    }

    private static void assertFails(ThrowingCallable call, Reason reason, String words) {
        assertThatThrownBy(call)
                .hasMessageContaining(words)
                .extracting(thrown -> ((NvmlException) thrown).reason())
                .isEqualTo(reason);
    }

    /** A driver opens thousands of them in a day. */
    @Test
    void leaveNoFileOpen() throws Exception {
        nvml.read();
        state.initFails(DRIVER_NOT_LOADED);
        assertFails(nvml::read, Reason.NO_DRIVER, "nvmlInit");

        assertThat(node.openFiles(ProcessHandle.current().pid())).isEmpty();
    }

    @Test
    void lastFromTheFirstCallForAsLongAsTheyAreKeptAndBlockAnUpdateUntilThen() throws Exception {
        Lease first = nvml.keep();
        Lease second = nvml.keep();
        assertThat(isOpen()).isFalse();
        nvml.read();

        first.close();
        first.close();

        assertThat(isOpen()).isTrue();
        assertThat(node.unload()).isEqualTo(IN_USE);
        second.close();
        assertThat(isOpen()).isFalse();
        assertThat(node.unload()).isEqualTo(SUCCESS);
    }

    @Test
    void areGivenBackForAMomentInWhichCallsWait() throws Exception {
        NvmlEvents events = nvml.subscribe(Set.of(state.uuid(0)));

        Lease paused = nvml.pause("a passthrough", Duration.ofSeconds(10));

        assertThat(isOpen()).isFalse();
        assertFails(() -> events.await(Duration.ofMillis(1)), Reason.GIVEN_BACK, "a passthrough");
        CompletableFuture<Reading> waiting = CompletableFuture.supplyAsync(nvml::read);
        assertThatThrownBy(() -> waiting.get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(isOpen()).isFalse();
        paused.close();
        assertThat(waiting.get(10, TimeUnit.SECONDS).gpus()).hasSize(4);
        assertThat(isOpen()).isTrue();
        events.close();
    }

    @Test
    void areGivenBackThoughTheyAreKept() throws Exception {
        NvmlEvents events = nvml.subscribe(Set.of(state.uuid(0)));

        Lease held = nvml.giveBack("maintenance");

        assertThat(isOpen()).isFalse();
        assertFails(nvml::read, Reason.GIVEN_BACK, "released for maintenance");
        assertFails(() -> events.await(Duration.ofMillis(1)), Reason.GIVEN_BACK, "maintenance");
        assertThat(node.administrator().reset(0)).isEqualTo(SUCCESS);
        held.close();
        assertThat(nvml.read().gpus()).hasSize(4);
        assertThat(isOpen()).isTrue();
        events.close();
    }

    @Test
    void areGivenBackWhenTheirCallsHaveReturned() throws Exception {
        state.set(0, "slowMillis", 50);
        CompletableFuture<Reading> reading = CompletableFuture.supplyAsync(nvml::read);
        Await.until("a session", Duration.ofSeconds(30), this::isOpen);

        try (Lease held = nvml.giveBack("maintenance")) {
            assertThat(held).isNotNull();
            assertThat(isOpen()).isFalse();
            assertThat(reading.get(10, TimeUnit.SECONDS).gpus()).hasSize(4);
        }
    }

    /** The lock is held while NVML opens a session or ends one, and that may take forever. */
    @Test
    void areNotWaitedForBeyondTheTimeoutWhileAnotherThreadHasTheLock() throws Exception {
        Sessions sessions = new Sessions(Installation.of(node.library()), Instant::now);
        Lease kept = sessions.keep();
        Session session = sessions.read(one -> one);
        ExecutorService threads = Executors.newCachedThreadPool();
        CountDownLatch isLocked = new CountDownLatch(1);
        CountDownLatch isOver = new CountDownLatch(1);
        CompletableFuture<Void> other = CompletableFuture.runAsync(
                () -> sessions.ifOpen(session, one -> {
                    isLocked.countDown();
                    await(isOver);
                }),
                threads);
        await(isLocked);
        CompletableFuture<Lease> paused =
                CompletableFuture.supplyAsync(() -> sessions.pause("a passthrough", Duration.ofMillis(100)), threads);

        try {
            assertThat(paused)
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .withMessageContaining("has not returned for 0.1 s: NVML can't be released");
        } finally {
            isOver.countDown();
        }
        other.get(10, TimeUnit.SECONDS);
        Session after = sessions.read(one -> one); // nothing is paused
        assertThat(after).isSameAs(session);
        kept.close();
        sessions.close();
        threads.shutdown();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Otherwise it would stay released forever: no lease could be closed. */
    @Test
    void areOpenedAgainIfTheirEndFailed() {
        AtomicBoolean isFailing = new AtomicBoolean();
        InstantSource clock = () -> {
            if (isFailing.get()) {
                throw new IllegalStateException("a failure");
            }
            return Instant.now();
        };
        Sessions sessions = new Sessions(Installation.of(node.library()), clock);
        Lease kept = sessions.keep();
        sessions.read(one -> one);
        isFailing.set(true);

        assertThatThrownBy(() -> sessions.pause("a passthrough", Duration.ofSeconds(1)))
                .isInstanceOf(IllegalStateException.class);

        isFailing.set(false);
        boolean isOpened = sessions.read(one -> true);
        assertThat(isOpened).isTrue();
        kept.close();
        sessions.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 9, 18})
    void areReplacedIfNvmlEndsThem(int code) {
        try (Lease kept = nvml.keep()) {
            assertThat(kept).isNotNull();
            nvml.read();

            state.replacing(code, 0);

            assertThat(nvml.read().gpus()).hasSize(4);
        }
    }

    @Test
    void areReplacedIfTheLibraryIs() throws Exception {
        try (NvmlEvents events = nvml.subscribe(Set.of(state.uuid(0)))) {
            node.update(UPDATED);

            assertFails(
                    () -> events.await(Duration.ofMillis(1)), Reason.SESSION_ENDED, "the next call opens a new one");
            assertThat(nvml.read().gpus()).hasSize(4);
            assertThat(isOpen()).isTrue();
        }
        assertThat(isOpen()).isFalse();
    }

    @Test
    void neverChangeTheHardwareTwice() {
        node = StandInNode.install(folder.resolve("h100"), "h100-80");
        String gpu = node.state().uuid(0);
        Nvml other = node.nvml();
        other.switchMig(gpu, true);
        node.state().fails("nvmlGpuInstanceGetInfo", NodeState.ALL, 1, 1); // after the creation

        assertFails(
                () -> other.createInstance(gpu, 19, new InstancePlacement(0, 1)),
                Reason.SESSION_ENDED,
                "nvmlGpuInstanceGetInfo");

        assertThat(node.state().instances()).isEmpty(); // destroyed, and not created again
        other.close();
    }

    @ParameterizedTest
    @CsvSource({"18, SESSION_ENDED, true", "9, NO_DRIVER, false"})
    void askForARestartAfterManyFailuresInALongTimeUnlessThereIsNoDriver(int code, Reason reason, boolean asks) {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
        Nvml failing = new Nvml(Installation.of(node.library()), now::get);
        state.initFails(code);

        for (int i = 0; i < 5; i++) {
            assertFails(failing::read, reason, "(" + code + ")");
        }
        assertThat(failing.persistentFailure()).as("it has not been long").isEmpty();
        now.set(Instant.EPOCH.plus(Duration.ofMinutes(5)));
        assertThat(failing.persistentFailure().filter(why -> why.contains("5 times")))
                .matches(why -> why.isPresent() == asks);
        state.initFails(0);
        failing.read();

        assertThat(failing.persistentFailure()).isEmpty();
        failing.close();
    }

    @Test
    void askForARestartWhileACallDoesNotReturn() throws Exception {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
        Nvml hanging = new Nvml(Installation.of(node.library()), now::get);
        state.set(0, "slowMillis", 2_000);
        CompletableFuture<Reading> reading = CompletableFuture.supplyAsync(hanging::read);
        Await.until("a session", Duration.ofSeconds(30), this::isOpen);

        assertThat(hanging.persistentFailure()).as("it has not been long").isEmpty();
        now.set(Instant.EPOCH.plus(Duration.ofMinutes(5)));
        assertThat(hanging.persistentFailure()).contains("A call of NVML has not returned since 1970-01-01T00:00:00Z");
        state.set(0, "slowMillis", 0);
        reading.get(30, TimeUnit.SECONDS);

        assertThat(hanging.persistentFailure()).isEmpty();
        hanging.close();
    }
}
