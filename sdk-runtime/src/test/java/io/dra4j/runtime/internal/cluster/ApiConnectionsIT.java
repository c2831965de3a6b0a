// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.proxy.TcpConnection;
import io.dra4j.testkit.proxy.TcpConnection.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections to the API server: how many, and those that go silent, as of a lost load balancer. */
@Timeout(120)
class ApiConnectionsIT extends ApiOverTls {

    /** One request may time out, and no second one. */
    private static final Duration ONE_TIMEOUT = Duration.ofSeconds(18);

    private static final Duration SHORT = Duration.ofMillis(500);

    @Test
    void costAPrepareOneTimeoutAndEndTheWatchesOnThem() throws Exception {
        Cluster driver = driver(inCluster());
        try (Watch watch = watch(driver)) {
            read(driver);
            proxy.silenceAll();

            assertThat(read(driver)).isLessThan(ONE_TIMEOUT);
            assertThat(nextEvent()).isEqualTo("ended");
            assertThat(watch).isNotNull();
        }
    }

    /** Any library may hold up its threads: on a node with two processors it has one. */
    @Test
    void needNoThreadOfTheCommonPool() throws Exception {
        Cluster driver = driver(inCluster());
        ForkJoinPool pool = ForkJoinPool.commonPool();
        CountDownLatch held = new CountDownLatch(pool.getParallelism());
        CountDownLatch released = new CountDownLatch(1);
        for (int i = 0; i < pool.getParallelism(); i++) {
            pool.submit(() -> {
                held.countDown();
                released.await();
                return null;
            });
        }
        held.await();
        try {
            assertThat(read(driver)).isLessThan(Duration.ofSeconds(9));
        } finally {
            released.countDown();
        }
    }

    @Test
    void areClosedAndNotUsedAgain() throws Exception {
        ApiCalls calls = new ApiCalls(inCluster(), Meters.none());
        calls.read("version", PREPARE);

        TcpConnection unanswered = requireUnanswered(calls, TcpConnection::silence);

        int before = proxy.connections().size();
        assertThat(calls.read("version", PREPARE)).contains("gitVersion");
        assertThat(unanswered.awaitEnd(PREPARE)).isTrue();
        assertThat(proxy.connections()).hasSize(before + 1);
    }

    @Test
    void areNotTriedOneAfterTheOther() throws Exception {
        ApiCalls calls = new ApiCalls(inCluster(), Meters.none());
        readAtOnce(calls, 4);
        assertThat(proxy.connections()).hasSizeBetween(2, 4);

        requireUnanswered(calls, TcpConnection::silence);

        assertThat(calls.read("version", PREPARE)).contains("gitVersion");
    }

    @ParameterizedTest
    @EnumSource
    void areGivenUpAlsoIfOneDirectionWorks(Direction silent) throws Exception {
        ApiCalls calls = new ApiCalls(inCluster(), Meters.none());
        calls.read("version", PREPARE);

        requireUnanswered(calls, open -> open.silence(silent));

        assertThat(calls.read("version", PREPARE)).contains("gitVersion");
    }

    @Test
    void besideAWatchThatReceivesSomethingDoNotEndIt() throws Exception {
        ApiClient client = inCluster();
        ApiCalls calls = new ApiCalls(client, Meters.none());
        try (Watch watch = watch(driver(client))) {
            TcpConnection ofTheWatch = connectionOf(this::changeAndAwaitTheEvent, Direction.TO_CLIENT);
            calls.read("version", PREPARE);
            CompletableFuture<Void> unanswered = CompletableFuture.runAsync(() -> requireUnanswered(calls, open -> {
                if (open != ofTheWatch) {
                    open.silence();
                }
            }));
            while (!unanswered.isDone()) {
                changeAndAwaitTheEvent();
            }

            unanswered.join();
            calls.read("version", PREPARE);
            changeAndAwaitTheEvent();
            assertThat(watch).isNotNull();
        }
    }

    @Test
    void areFewForManyRequestsAndOfHttp1() throws Exception {
        ApiCalls calls = new ApiCalls(inCluster(), Meters.none());

        readAtOnce(calls, 32);

        // Eight at a time; a connection is free again a moment after its request has ended.
        assertThat(proxy.connections()).hasSizeLessThan(24);
        assertThat(server.protocols()).containsOnlyKeys("HTTP/1.1");
    }

    private void changeAndAwaitTheEvent() {
        try {
            changeTheClaim();
            assertThat(nextEvent()).isEqualTo("changed");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Silences the open connections and sends a request that must get no answer on one of them; again, if the request
     * opened another: a connection is free a moment after its last request has ended.
     */
    private TcpConnection requireUnanswered(ApiCalls calls, Consumer<TcpConnection> silence) {
        for (int attempt = 0; attempt < 20; attempt++) {
            proxy.connections().forEach(silence);
            AtomicReference<ClusterException> failure = new AtomicReference<>();
            TcpConnection used = connectionOf(() -> failure.set(failureOf(calls)), Direction.TO_SERVER);
            if (failure.get() != null) {
                assertThat(failure.get()).hasMessageContaining("did not answer within 0.5 s");
                return used;
            }
        }
        throw new AssertionError("Each request opened a connection");
    }

    private static @Nullable ClusterException failureOf(ApiCalls calls) {
        try {
            calls.read("version", SHORT);
            return null;
        } catch (ClusterException e) {
            return e;
        }
    }

    private TcpConnection connectionOf(Runnable request, Direction direction) {
        Map<TcpConnection, Long> before = proxy.connections().stream()
                .collect(Collectors.toMap(Function.identity(), open -> open.received(direction)));
        request.run();
        return proxy.connections().stream()
                .filter(open -> open.received(direction) > before.getOrDefault(open, 0L))
                .findFirst()
                .orElseThrow();
    }

    /** Sends requests of which each waits until all are sent. */
    private static void readAtOnce(ApiCalls calls, int number) {
        CyclicBarrier all = new CyclicBarrier(number);
        ExecutorService threads = Executors.newFixedThreadPool(number);
        try {
            List<CompletableFuture<Void>> reads = IntStream.range(0, number)
                    .mapToObj(i -> CompletableFuture.runAsync(
                            () -> {
                                try {
                                    all.await();
                                } catch (Exception e) {
                                    throw new AssertionError(e);
                                }
                                calls.read("version", PREPARE);
                            },
                            threads))
                    .toList();
            reads.forEach(CompletableFuture::join);
        } finally {
            threads.shutdown();
        }
    }
}
