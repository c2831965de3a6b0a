// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.context.DriverControl;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;

/** A driver on its own test context, step by step; for one thread. */
final class MeasuredDriver implements AutoCloseable {

    private static final int HOLD_AT_ONCE = 32;

    private final TestContext context;
    private final List<Timings> calls = new ArrayList<>();
    private List<PublishedDevice> devices = List.of();
    private Optional<Footprint> idle = Optional.empty();
    private final List<KubeletClaim> holding = new ArrayList<>();
    private final Floors floors;
    private long started;
    private int heldWhenLoaded;
    private Optional<Footprint> loaded = Optional.empty();

    private MeasuredDriver(TestContext context) {
        this.context = context;
        floors = Floors.of(context);
    }

    /** Makes a node, which is also removed when a signal ends the program; the driver is not started yet. */
    static MeasuredDriver open(Settings settings, Consumer<String> remarks) {
        TestContext context = TestContext.open(settings, DriverAdapters.of(settings.driver()), "load", remarks);
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(context::close, "dra-conformance-end"));
            return new MeasuredDriver(context);
        } catch (IllegalStateException e) { // the program ends
            context.close();
            throw new DriverUnusable("The run was ended");
        }
    }

    StartTimes start() {
        started = System.nanoTime();
        return StartTimes.start(context);
    }

    /** Reads the driver's footprint at a time after its start; its end before that is a violation. */
    void idle(Duration since) {
        Duration left = since.minus(Timing.since(started));
        if (!left.isNegative()) {
            OptionalInt exit = context.driver().current().awaitExit(left);
            Violation.unless(exit.isEmpty())
                    .because("the idle driver ended: %s", context.driver().fate());
        }
        idle = footprint();
    }

    /** Reads what the driver needs with the claims that it holds now. */
    void loaded() {
        loaded = footprint();
        heldWhenLoaded = holding.size();
    }

    Optional<Footprint> footprint() {
        return Footprint.of(context.driver().current());
    }

    void wipe() {
        SeenPools before = pools();
        String slices = ApiObjects.RESOURCE + "/resourceslices";
        String ofKubelet = "spec.nodeName=%s,spec.driver=%s"
                .formatted(context.place().node(), context.place().driver());
        context.cluster().deleteCollection(slices, "fieldSelector=" + ApiObjects.encoded(ofKubelet));
        before.slices().stream()
                .filter(slice -> !slice.path("spec").has("nodeName"))
                .forEach(slice -> context.cluster().delete(slices + "/" + SeenPools.name(slice)));
        Duration limit = context.timeouts().cachedRepair();
        boolean isBack = context.awaitPools(
                limit, () -> pools().areComplete() && pools().deviceNames().containsAll(before.deviceNames()));
        Violation.unless(isBack || context.driver().isAlive())
                .because(
                        "the driver ended when its slices were deleted: %s",
                        context.driver().fate());
        Violation.unless(isBack)
                .because(
                        "%d s after its slices were deleted, the driver's pools are not as before: %s",
                        limit.toSeconds(), pools().difference(before));
    }

    private SeenPools pools() {
        return new SeenPools(context.devices().slices());
    }

    /** Reads the devices that claims can have, and returns their number. */
    int findDevices() {
        devices = context.devices().usable();
        Violation.unless(!devices.isEmpty())
                .because(
                        "the driver publishes %d devices, but none that a claim can have now: calls cannot be measured",
                        context.devices().all().size());
        return devices.size();
    }

    /** Holds {@code wanted} claims from now on, with devices from an index on. */
    void hold(int wanted, int from) {
        for (int i = holding.size(); i < wanted; i += HOLD_AT_ONCE) {
            int to = Math.min(i + HOLD_AT_ONCE, wanted);
            List<KubeletClaim> claims = Arrays.asList(allocated(devices.subList(from + i, from + to)));
            succeeds(prepare(claims));
            holding.addAll(claims);
        }
    }

    private KubeletClaim[] allocated(List<PublishedDevice> some) {
        return some.stream().map(context.claims()::allocate).toArray(KubeletClaim[]::new);
    }

    /** Unprepares all claims that are held. */
    void release() {
        for (int i = 0; i < holding.size(); i += HOLD_AT_ONCE) {
            int to = Math.min(i + HOLD_AT_ONCE, holding.size());
            succeeds(unprepare(holding.subList(i, to)));
        }
        holding.clear();
    }

    /** Begins to measure calls of {@code size} claims. */
    Batch batch(int size, String which, boolean withFloors) {
        return new Batch(which, Arrays.asList(allocated(devices.subList(0, size))), withFloors);
    }

    /** Calls that are measured repeatedly with the same claims. */
    final class Batch {
        private final String which;
        private final List<KubeletClaim> claims;
        private final boolean withFloors;
        private final List<Duration> prepares = new ArrayList<>();
        private final List<Duration> unprepares = new ArrayList<>();

        private Batch(String which, List<KubeletClaim> claims, boolean withFloors) {
            this.which = which;
            this.claims = claims;
            this.withFloors = withFloors;
        }

        void round() {
            // not through the context's calls, whose transcript would also be measured
            prepares.add(Timing.of(() -> succeeds(prepare(claims))));
            unprepares.add(Timing.of(() -> succeeds(unprepare(claims))));
            if (withFloors) {
                floors.round(claims.get(0));
            }
        }

        void end() {
            claims.forEach(context.claims()::deleteObject); // others get its device now
            add(measure(LoadRun.PREPARE, prepares));
            add(measure(LoadRun.UNPREPARE, unprepares));
        }

        private Timings measure(String what, List<Duration> times) {
            return new Timings(what + which, claims.size(), holding.size(), times, Timeouts.PREPARE);
        }
    }

    /** Adds times; those of calls that were measured before join theirs. */
    private void add(Timings measure) {
        for (int i = 0; i < calls.size(); i++) {
            if (calls.get(i).isOfSame(measure)) {
                calls.set(i, calls.get(i).and(measure));
                return;
            }
        }
        calls.add(measure);
    }

    /** Prepares and unprepares a new claim. */
    Duration turnover() {
        KubeletClaim claim = context.claims().allocate(devices.get(0));
        List<KubeletClaim> one = List.of(claim);
        Duration took = Timing.of(() -> succeeds(prepare(one)));
        succeeds(unprepare(one));
        context.claims().deleteObject(claim);
        return took;
    }

    private CallResult prepare(List<KubeletClaim> claims) {
        return context.kubelet()
                .prepare(context.place().driver(), claims, context.calls().service());
    }

    private CallResult unprepare(List<KubeletClaim> claims) {
        return context.kubelet()
                .unprepare(context.place().driver(), claims, context.calls().service());
    }

    private void succeeds(CallResult result) {
        Optional<String> complaint = result.complaint();
        String ended = context.driver().isAlive() ? "" : "; " + context.driver().fate();
        Violation.unless(complaint.isEmpty())
                .because("a call that is measured failed: %s%s", complaint.orElse(""), ended);
    }

    DriverNumbers numbers(List<StartTimes> starts, List<Duration> wipes) {
        return new DriverNumbers(
                context.place().driver(),
                List.of(
                        publishing("start to both sockets", starts, StartTimes::sockets),
                        publishing("start to registration", starts, StartTimes::registered),
                        publishing("start to publish", starts, StartTimes::published),
                        new Timings("wipe to publish", 0, 0, wipes, Duration.ZERO)),
                idle,
                loaded,
                heldWhenLoaded,
                floors.measures(),
                List.copyOf(calls));
    }

    private static Timings publishing(String what, List<StartTimes> starts, Function<StartTimes, Duration> part) {
        return new Timings(what, 0, 0, starts.stream().map(part).toList(), Duration.ZERO);
    }

    @Override
    public void close() {
        floors.close();
        context.close();
    }

    /**
     * The times of one start of a driver, counted from before its process is created.
     *
     * @param sockets the time until both sockets had their names
     * @param registered the time until the kubelet had registered it
     * @param published the time until the API server had a complete pool
     */
    record StartTimes(Duration sockets, Duration registered, Duration published) {

        /** Starts a driver: DriverUnusable if it can't be started, a violation if it does not publish. */
        static StartTimes start(TestContext context) {
            DriverControl driver = context.driver();
            int before = context.kubelet().events().size();
            Instant exec = Instant.now();
            long begin = System.nanoTime();
            driver.start();
            Duration registered = Timing.since(begin);
            context.awaitPublished().ifPresent(unpublished -> {
                throw new Violation(unpublished.message());
            });
            Duration published = Timing.since(begin);
            return new StartTimes(sockets(context, before, exec), registered, published);
        }

        /**
         * A socket's inode changes when it gets its name: a socket that is bound under another name and renamed counts from
         * the renaming. No polling is needed.
         */
        private static Duration sockets(TestContext context, int before, Instant exec) {
            Path registration =
                    context.kubelet().events(Kind.REGISTERED, before).get(0).socket();
            Instant first = named(registration);
            Instant second = named(context.driver().info().endpoint());
            return Duration.between(exec, first.isAfter(second) ? first : second);
        }

        private static Instant named(Path socket) {
            try {
                return ((FileTime) Files.getAttribute(socket, "unix:ctime")).toInstant();
            } catch (IOException e) {
                throw new Violation("the socket " + socket + " is gone: " + e.getMessage());
            }
        }
    }
}
