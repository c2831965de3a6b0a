// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.cluster.Cluster;
import io.dra4j.conformance.cluster.ObjectWatch;
import io.dra4j.conformance.proxy.RecordedRequest;
import io.dra4j.conformance.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The driver's slices: how they are, how they become, and who writes them. */
final class Publishing {

    static final String SLICES = Cluster.RESOURCE + "/resourceslices";
    static final Predicate<RecordedRequest> WRITES = Requests.writes("resourceslices");

    private static final Duration LOOK = Duration.ofMillis(500);

    private final Bench bench;

    Publishing(Bench bench) {
        this.bench = bench;
    }

    /** All slices of the driver, of whatever node, from now on. */
    ObjectWatch watch() {
        return bench.cluster()
                .watch(
                        SLICES,
                        "fieldSelector="
                                + Cluster.encoded("spec.driver=" + bench.place().driver()));
    }

    /** Of all slices of the driver those that its node can use. */
    SeenPools seen(List<JsonNode> all) {
        return new SeenPools(all.stream().filter(slice -> reaches(slice.path("spec"))).toList());
    }

    private boolean reaches(JsonNode spec) {
        String node = spec.path("nodeName").asText();
        return node.isEmpty() || node.equals(bench.place().node());
    }

    /** The pools now. */
    SeenPools now() {
        return new SeenPools(bench.devices().slices());
    }

    /** Whether it was once in vain waited for slices on this bench. */
    private record FirstLook(boolean inVain) {}

    /**
     * Waits until the pools are settled, and returns them.
     *
     * @throws NotApplicable if the driver publishes nothing
     * @throws Violation if the pools do not settle
     */
    SeenPools settled() throws InterruptedException {
        SeenPools pools = now();
        if (pools.settled()) {
            return pools;
        }
        boolean inVain = bench.shared(FirstLook.class, this::firstLook).inVain();
        NotApplicable.unless(
                !inVain || !now().slices().isEmpty(),
                "the driver publishes no slice that its node can use");
        return await(SeenPools::settled, bench.patience().repair())
                .orElseThrow(
                        () ->
                                new Violation(
                                        "the pools have not settled: "
                                                + now().trouble().orElse("")));
    }

    private FirstLook firstLook() {
        try {
            return new FirstLook(
                    await(seen -> !seen.slices().isEmpty(), bench.patience().repair()).isEmpty());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /**
     * Waits until the pools are as wanted, and returns them; empty if the time is over.
     *
     * @throws Violation if the driver ends meanwhile
     */
    Optional<SeenPools> await(Predicate<SeenPools> wanted, Duration timeout)
            throws InterruptedException {
        try (ObjectWatch watch = watch()) {
            return await(watch, wanted, timeout);
        }
    }

    Optional<SeenPools> await(ObjectWatch watch, Predicate<SeenPools> wanted, Duration timeout)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (!watch.await(all -> wanted.test(seen(all)), LOOK)) {
            requireAlive();
            if (System.nanoTime() > end) {
                return Optional.empty();
            }
        }
        return Optional.of(seen(watch.now())).filter(wanted);
    }

    private void requireAlive() {
        if (!bench.driver().current().isAlive()) {
            throw new Violation(
                    "the driver has ended while its slices were waited for: "
                            + bench.driver().fate());
        }
    }

    /** Whether the pools are settled and say the same as before. */
    static Predicate<SeenPools> like(SeenPools before) {
        return seen -> seen.settled() && seen.content().equals(before.content());
    }

    /** Waits until the pools are again as before. */
    SeenPools restored(SeenPools before, String after, Duration timeout)
            throws InterruptedException {
        return await(like(before), timeout)
                .orElseThrow(
                        () ->
                                new Violation(
                                        "%d s after %s the slices are not as before: %s"
                                                .formatted(
                                                        timeout.toSeconds(),
                                                        after,
                                                        now().difference(before))));
    }

    /** The writes of the driver since a request. */
    List<RecordedRequest> writesAfter(int number) {
        return bench.proxy().requests(WRITES.and(Requests.after(number)));
    }

    /** Whether the driver writes a slice within a time; waits no longer than until it does. */
    boolean writesWithin(int number, Duration time) {
        return happens(WRITES.and(Requests.after(number)), time);
    }

    /** Whether a request comes, or came, within a time. */
    boolean happens(Predicate<RecordedRequest> request, Duration time) {
        try {
            bench.proxy().await(time, request);
            return true;
        } catch (AssertionError e) {
            return false; // it did not come: that is an answer, too
        }
    }

    void delete(JsonNode slice) {
        bench.transcript().note("somebody else deletes slice " + SeenPools.name(slice));
        bench.cluster().delete(SLICES + "/" + SeenPools.name(slice));
    }

    /** What the kubelet does when it starts, and 30 s after it lost the driver. */
    void wipe() {
        bench.transcript().note("the kubelet wipes the slices of the driver on its node");
        bench.cluster()
                .deleteCollection(
                        SLICES,
                        "fieldSelector="
                                + Cluster.encoded(
                                        "spec.nodeName="
                                                + bench.place().node()
                                                + ",spec.driver="
                                                + bench.place().driver()));
    }

    /** Deletes all slices of the driver that its node can use, node-local or not. */
    void deleteAll(SeenPools pools) {
        pools.slices().forEach(this::delete);
    }
}
