// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Violation;
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

/** Measures a driver on a test context of its own. */
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
     * @param remarks receives the progress, and what is left out, a sentence each
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
     * @throws io.dra4j.testkit.driver.DriverUnusable if the driver cannot be run
     * @throws Violation if a call fails
     */
    public List<Measure> run() {
        try (TestContext context = TestContext.open(settings, adapter, "load", remarks)) {
            List<Measure> measures = new ArrayList<>();
            measures.add(start(context));
            measures.add(wipe(context));
            calls(context, measures);
            return measures;
        }
    }

    private static Measure start(TestContext context) {
        Duration took =
                timed(
                        () -> {
                            context.driver().start();
                            context.awaitPublished()
                                    .ifPresent(
                                            unpublished -> {
                                                throw new Violation(unpublished.message());
                                            });
                            return true;
                        });
        return new Measure("start to publish", 0, 0, List.of(took), Duration.ZERO);
    }

    private static boolean awaitRepair(TestContext context) {
        Duration limit = context.timeouts().cachedRepair();
        Violation.unless(context.awaitPools(limit))
                .because(
                        "%d s after the kubelet's wipe the driver has no complete pool again",
                        limit.toSeconds());
        return true;
    }

    private Measure wipe(TestContext context) {
        remarks.accept(
                "The slices are deleted as by the kubelet's wipe, %d times".formatted(WIPES));
        List<Duration> times = new ArrayList<>();
        for (int i = 0; i < WIPES; i++) {
            context.cluster()
                    .deleteCollection(
                            Cluster.RESOURCE + "/resourceslices",
                            "fieldSelector="
                                    + Cluster.encoded("spec.nodeName=" + context.place().node()));
            times.add(timed(() -> awaitRepair(context)));
        }
        return new Measure("wipe to publish", 0, 0, times, Duration.ZERO);
    }

    private void calls(TestContext context, List<Measure> measures) {
        List<PublishedDevice> devices = context.devices().usable();
        Violation.unless(!devices.isEmpty())
                .because(
                        "the driver publishes %d devices, and none that a claim can have now: calls cannot be measured",
                        context.devices().all().size());
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
            hold(context, devices.subList(most + held, most + wanted));
            held = wanted;
            for (int batch : sizes(most)) {
                measures.addAll(batch(context, devices.subList(0, batch), held));
            }
        }
    }

    /** The sizes of calls that there are devices for, and the largest that there are for. */
    private static List<Integer> sizes(int most) {
        return BATCHES.stream().map(batch -> Math.min(batch, most)).distinct().toList();
    }

    private static void hold(TestContext context, List<PublishedDevice> devices) {
        for (int i = 0; i < devices.size(); i += HOLD_AT_ONCE) {
            KubeletClaim[] claims =
                    allocated(
                            context,
                            devices.subList(i, Math.min(i + HOLD_AT_ONCE, devices.size())));
            succeeds(context.calls().prepare(claims));
        }
    }

    private static KubeletClaim[] allocated(TestContext context, List<PublishedDevice> devices) {
        return devices.stream().map(context.claims()::allocate).toArray(KubeletClaim[]::new);
    }

    private List<Measure> batch(TestContext context, List<PublishedDevice> devices, int held) {
        KubeletClaim[] claims = allocated(context, devices);
        List<Duration> prepares = new ArrayList<>();
        List<Duration> unprepares = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            prepares.add(timed(() -> succeeds(context.calls().prepare(claims))));
            unprepares.add(timed(() -> succeeds(context.calls().unprepare(claims))));
        }
        for (KubeletClaim claim : claims) {
            context.claims().deleteObject(claim); // its device is that of other claims now
        }
        return List.of(
                new Measure("prepare", claims.length, held, prepares, Timeouts.PREPARE),
                new Measure("unprepare", claims.length, held, unprepares, Timeouts.PREPARE));
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
