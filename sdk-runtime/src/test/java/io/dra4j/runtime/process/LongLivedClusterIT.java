// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Drivers under a prepare each second, in clusters that age: some drivers at a time, each with its own events. */
@Tag("slow")
@Tag("counts")
@Timeout(420)
@Execution(ExecutionMode.CONCURRENT)
class LongLivedClusterIT {

    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");
    private static final long SEED = Long.getLong("dra4j.seed", 1);

    /** The kubelet gives up after 45 s. */
    private static final Duration LONGEST = Duration.ofSeconds(35);

    /** That of a request, which a silent connection costs. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** So far apart that a prepare's four attempts within 45 s do not all meet one. */
    @Test
    void connectionsGoSilent() throws Exception {
        int cuts = NIGHTLY ? 208 : 5;

        List<Duration> prepares = live("silent connections", NIGHTLY ? 16 : 5, cuts, node -> node::cut, 12_000);

        assertThat(prepares.stream().filter(took -> took.compareTo(TIMEOUT) > 0))
                .as("prepares that met a silent connection")
                .hasSizeGreaterThan(cuts / 2);
    }

    @Test
    void authoritiesAreReplaced() throws Exception {
        live("replaced authorities", NIGHTLY ? 4 : 2, NIGHTLY ? 20 : 2, node -> node::replaceAuthority, 3_000);
    }

    @Test
    void kubeletsForget() throws Exception {
        live("forgetful kubelets", NIGHTLY ? 4 : 2, NIGHTLY ? 20 : 2, node -> node::forget, 4_000);
    }

    /** Returns the times that prepares took. */
    private static List<Duration> live(
            String what, int drivers, int events, Function<LongLivedNode, Callable<Boolean>> event, int least)
            throws Exception {
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        List<LongLivedNode> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < drivers; i++) {
                nodes.add(new LongLivedNode(SEED + i, clock, threads));
            }
            CompletableFuture.allOf(nodes.stream()
                            .map(node -> node.live(events / drivers, event.apply(node), least))
                            .toArray(CompletableFuture[]::new))
                    .join();
            for (LongLivedNode node : nodes) {
                node.end();
            }
            List<Duration> prepares = nodes.stream()
                    .flatMap(node -> node.prepares.stream())
                    .sorted()
                    .toList();
            Duration longest = prepares.get(prepares.size() - 1);
            System.out.printf(
                    "%d %s, %d drivers, seed %d: %d prepares, the longest took %d ms%n",
                    events, what, drivers, SEED, prepares.size(), longest.toMillis());
            assertThat(longest).isLessThan(LONGEST);
            return prepares;
        } catch (Exception | AssertionError e) {
            throw new AssertionError("Seed " + SEED + ": " + e.getMessage(), e);
        } finally {
            nodes.forEach(LongLivedNode::close);
            clock.shutdownNow();
            threads.shutdownNow();
        }
    }
}
