// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Patience;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Measures a driver on a bench of its own. */
public final class LoadRun {

    private static final List<Integer> BATCHES = List.of(1, 8, 32);
    private static final List<Integer> HELD = List.of(0, 200, 1000);
    private static final int HOLD_AT_ONCE = 32;
    private static final int WIPES = 3;

    private final Settings settings;
    private final DriverAdapter adapter;
    private final int rounds;
    private final Consumer<String> remarks;

    /**
     * Makes a run ready.
     *
     * @param rounds how often each call is measured
     * @param remarks hears what goes on, and what is left out, a sentence each
     */
    public LoadRun(Settings settings, DriverAdapter adapter, int rounds, Consumer<String> remarks) {
        this.settings = settings;
        this.adapter = adapter;
        this.rounds = rounds;
        this.remarks = remarks;
    }

    /**
     * Measures everything.
     *
     * @throws io.dra4j.testkit.driver.DriverTrouble if the driver cannot be run
     * @throws Violation if a call fails
     */
    public List<Measure> run() {
        try (Bench bench = Bench.open(settings, adapter, "load", remarks)) {
            List<Measure> measures = new ArrayList<>();
            measures.add(start(bench));
            measures.add(wipe(bench));
            calls(bench, measures);
            return measures;
        }
    }

    private static Measure start(Bench bench) {
        Duration took =
                timed(
                        () -> {
                            bench.driver().start();
                            bench.awaitPublished()
                                    .ifPresent(
                                            unpublished -> {
                                                throw new Violation(unpublished.message());
                                            });
                            return true;
                        });
        return new Measure("start to publish", 0, 0, List.of(took), Duration.ZERO);
    }

    private static boolean awaitRepair(Bench bench) {
        Duration limit = bench.patience().cachedRepair();
        Violation.unless(
                bench.awaitPools(limit),
                "%d s after the kubelet's wipe the driver has no complete pool again",
                limit.toSeconds());
        return true;
    }

    private Measure wipe(Bench bench) {
        remarks.accept(
                "The slices are deleted as by the kubelet's wipe, %d times".formatted(WIPES));
        List<Duration> times = new ArrayList<>();
        for (int i = 0; i < WIPES; i++) {
            bench.cluster()
                    .deleteCollection(
                            Cluster.RESOURCE + "/resourceslices",
                            "fieldSelector="
                                    + Cluster.encoded("spec.nodeName=" + bench.place().node()));
            times.add(timed(() -> awaitRepair(bench)));
        }
        return new Measure("wipe to publish", 0, 0, times, Duration.ZERO);
    }

    private void calls(Bench bench, List<Measure> measures) {
        List<PublishedDevice> devices = bench.devices().usable();
        Violation.unless(
                !devices.isEmpty(),
                "the driver publishes %d devices, and none that a claim can have now: calls cannot be measured",
                bench.devices().all().size());
        int largest = BATCHES.get(BATCHES.size() - 1);
        int most = Math.min(largest, devices.size());
        if (most < largest) {
            remarks.accept(
                    "Each claim has a device of its own, and there are %d that claims can have at the same time: no call has more claims"
                            .formatted(most));
        }
        int held = 0;
        for (int wanted : HELD) {
            if (devices.size() < wanted + most) {
                remarks.accept(
                        "Left out: %d claims held, for which %d devices are too few"
                                .formatted(wanted, devices.size()));
                continue;
            }
            remarks.accept("Calls with %d claims held, %d rounds".formatted(wanted, rounds));
            hold(bench, devices.subList(most + held, most + wanted));
            held = wanted;
            for (int batch : sizes(most)) {
                measures.addAll(batch(bench, devices.subList(0, batch), held));
            }
        }
    }

    /** The sizes of calls that there are devices for, and the largest that there are for. */
    private static List<Integer> sizes(int most) {
        return BATCHES.stream().map(batch -> Math.min(batch, most)).distinct().toList();
    }

    private static void hold(Bench bench, List<PublishedDevice> devices) {
        for (int i = 0; i < devices.size(); i += HOLD_AT_ONCE) {
            KubeletClaim[] claims =
                    allocated(
                            bench, devices.subList(i, Math.min(i + HOLD_AT_ONCE, devices.size())));
            succeeds(bench.calls().prepare(claims));
        }
    }

    private static KubeletClaim[] allocated(Bench bench, List<PublishedDevice> devices) {
        return devices.stream().map(bench.claims()::allocate).toArray(KubeletClaim[]::new);
    }

    private List<Measure> batch(Bench bench, List<PublishedDevice> devices, int held) {
        KubeletClaim[] claims = allocated(bench, devices);
        List<Duration> prepares = new ArrayList<>();
        List<Duration> unprepares = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            prepares.add(timed(() -> succeeds(bench.calls().prepare(claims))));
            unprepares.add(timed(() -> succeeds(bench.calls().unprepare(claims))));
        }
        for (KubeletClaim claim : claims) {
            bench.claims().deleteObject(claim); // its device is that of other claims now
        }
        return List.of(
                new Measure("prepare", claims.length, held, prepares, Patience.PREPARE),
                new Measure("unprepare", claims.length, held, unprepares, Patience.PREPARE));
    }

    private static boolean succeeds(CallResult result) {
        result.complaint()
                .ifPresent(
                        complaint -> {
                            throw new Violation("a call that is measured failed: " + complaint);
                        });
        return true;
    }

    private static Duration timed(Supplier<Boolean> work) {
        long begin = System.nanoTime();
        work.get();
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
