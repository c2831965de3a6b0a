// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ObjectWatch;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The driver's slices: their state, their changes, and who writes them. */
public record Publishing(TestContext context) {

    public static final String SLICES = ApiObjects.RESOURCE + "/resourceslices";
    public static final Predicate<RecordedRequest> WRITES = Requests.writes("resourceslices");

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String RESTORED = "time until the slices were as before";
    private static final Set<Integer> REFUSALS = Set.of(400, 403, 413, 422);
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Predicate<RecordedRequest> UPDATES = Requests.updates("resourceslices");

    /** The life of an entry in the mutation cache of the Go helper. */
    private static final Duration CACHED = Duration.ofSeconds(60);

    /** All slices of the driver, of any node, from now on. */
    public ObjectWatch watch() {
        String selector = ApiObjects.encoded("spec.driver=" + context.place().driver());
        return context.cluster().watch(SLICES, "fieldSelector=" + selector);
    }

    /** The driver's slices that its node can use. */
    public SeenPools seen(List<JsonNode> all) {
        return new SeenPools(context.devices().onNode(all));
    }

    public SeenPools now() {
        return new SeenPools(context.devices().slices());
    }

    /** Waits for the driver's first write of a slice, accepted or not, if it has no slice yet. */
    public void begun() {
        if (now().slices().isEmpty()) {
            context.isAnswered(timeout(), WRITES);
        }
    }

    /** True if a wait for settled pools timed out, and they have not been seen since. */
    private static final class InVain {
        private boolean unsettled;
    }

    /** Returns whether a wait for slices has timed out on this test context. */
    private record FirstLook(boolean inVain) {}

    /** Waits until the pools are settled: Blocked if nothing is published, a violation if they do not settle. */
    public SeenPools settled() throws InterruptedException {
        InVain known = context.shared(InVain.class, InVain::new);
        SeenPools pools = now();
        if (pools.settled()) {
            known.unsettled = false;
            return pools;
        }
        if (context.unpublished().isPresent()) {
            throw context.unpublished().get().blocked();
        }
        boolean inVain = context.shared(FirstLook.class, this::firstLook).inVain();
        if (inVain && now().slices().isEmpty()) {
            context.devices().requirePool();
        }
        return orInVain(SeenPools::settled).orElseThrow(this::unsettled);
    }

    /** The same for an idle driver, which writes nothing from an earlier start. */
    public SeenPools idle() throws InterruptedException {
        Idle.await(context);
        return settled();
    }

    /**
     * The same once caches of updates are empty: only DRA-SLICE-23 is about a deletion right after an update.
     */
    public SeenPools rested() throws InterruptedException {
        idle();
        if (isCached() && context.driver().adapter().controlsProcess()) {
            context.driver().restart(); // a new process has no cache
            idle();
        }
        if (isCached()) {
            await(seen -> false, context.timeouts().times(CACHED));
        }
        return settled();
    }

    private boolean isCached() {
        Instant young = Instant.now().minus(context.timeouts().times(CACHED));
        return last().filter(UPDATES).filter(w -> w.at().isAfter(young)).isPresent();
    }

    private Optional<RecordedRequest> last() {
        Instant start = context.driver().started();
        return context
                .proxy()
                .requests(WRITES.and(
                        write -> write.status() / 100 == 2 && write.at().isAfter(start)))
                .stream()
                .reduce((first, second) -> second);
    }

    /** Describes the driver's last write of a slice, for a message about what came after it. */
    public String lastWrite() {
        return last().map(write -> "the driver's last write before, %s %s, was at %s, %d s earlier"
                        .formatted(
                                write.method(),
                                write.path().substring(write.path().lastIndexOf('/') + 1),
                                write.at().truncatedTo(ChronoUnit.SECONDS),
                                Duration.between(write.at(), Instant.now()).toSeconds()))
                .orElse("the driver had written no slice since its start");
    }

    /** Waits until the pools are settled or a slice was refused: Blocked or a violation like {@link #settled}. */
    public SeenPools settledOrRefused() throws InterruptedException {
        Optional<Unpublished> unpublished = context.unpublished();
        if (unpublished.isPresent() && !unpublished.get().refused()) {
            return settled(); // which does not wait
        }
        Optional<SeenPools> pools = orInVain(seen -> seen.settled() || refusal().isPresent());
        if (pools.isEmpty() && !now().slices().isEmpty()) {
            throw unsettled();
        }
        return pools.isPresent() ? pools.get() : settled();
    }

    /** Waits for it, unless that timed out before and the pools have not settled since. */
    private Optional<SeenPools> orInVain(Predicate<SeenPools> wanted) throws InterruptedException {
        InVain known = context.shared(InVain.class, InVain::new);
        if (known.unsettled) {
            return Optional.of(now()).filter(wanted);
        }
        Optional<SeenPools> found = await(wanted, timeout());
        known.unsettled = found.isEmpty();
        return found;
    }

    /** The timeout for work that a driver may do at its start. */
    private Duration timeout() {
        boolean none =
                context.unpublished().isPresent() || context.settings().driver().hasNoDevices();
        return none ? context.timeouts().soon() : context.timeouts().repair();
    }

    public Violation unsettled() {
        String why = now().fault().orElse("");
        String known = context.unpublished().map(u -> ", " + u.details()).orElse("");
        return new Violation("the pools have not settled: " + why + known);
    }

    private FirstLook firstLook() throws InterruptedException {
        return new FirstLook(await(seen -> !seen.slices().isEmpty(), timeout()).isEmpty());
    }

    /** Waits until the pools meet a condition; empty on a timeout. The end of the driver is a violation. */
    public Optional<SeenPools> await(Predicate<SeenPools> wanted, Duration timeout) throws InterruptedException {
        try (ObjectWatch watch = watch()) {
            return await(watch, wanted, timeout);
        }
    }

    /** The same, with the time that it took as a measured value. */
    public Optional<SeenPools> measured(String what, Predicate<SeenPools> wanted, Duration limit)
            throws InterruptedException {
        try (ObjectWatch watch = watch()) {
            return measured(what, watch, wanted, limit);
        }
    }

    public Optional<SeenPools> measured(String what, ObjectWatch watch, Predicate<SeenPools> wanted, Duration limit)
            throws InterruptedException {
        Measurements.Wait wait = context.measurements().begin(what, limit);
        return wait.end(await(watch, wanted, limit));
    }

    public Optional<SeenPools> await(ObjectWatch watch, Predicate<SeenPools> wanted, Duration timeout)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Optional<SeenPools> found =
                    watch.await(all -> wanted.test(seen(all)), LOOK).map(this::seen);
            if (found.isPresent()) {
                return found;
            }
            requireAlive();
            if (System.nanoTime() > end) {
                return found;
            }
        }
    }

    private void requireAlive() {
        if (!context.driver().current().isAlive()) {
            throw new Violation("the driver has ended before it published its slices: "
                    + context.driver().fate());
        }
    }

    /** Returns whether the pools are settled and equal to those before. */
    public static Predicate<SeenPools> like(SeenPools before) {
        return seen -> seen.settled() && seen.content().equals(before.content());
    }

    /** Waits until the pools are as before; a violation if not, after a restart that has repaired what it could. */
    public SeenPools restored(SeenPools before, String after, Duration timeout) throws InterruptedException {
        Optional<SeenPools> restored = measured(RESTORED, like(before), timeout);
        if (restored.isPresent()) {
            return restored.get();
        }
        String difference = now().difference(before);
        repair(before);
        throw new Violation("%d s after %s the slices are not as before: %s", timeout.toSeconds(), after, difference);
    }

    /** Undoes a change, and waits until the driver shows it, so that it does not write later. */
    public void undo(Opened change, SeenPools before) throws InterruptedException {
        change.close();
        await(like(before), context.timeouts().change());
    }

    /** Restarts the driver if it does not repair its slices, which other rules need. */
    public void repair(SeenPools before) throws InterruptedException {
        if (context.driver().adapter().controlsProcess()
                && context.driver().isReady()
                && !like(before).test(now())) {
            context.driver().restart();
            await(like(before), context.timeouts().repair());
        }
    }

    /** The writes of the driver since a request. */
    public List<RecordedRequest> writesAfter(int number) {
        return context.proxy().requests(WRITES.and(Requests.after(number)));
    }

    /** Returns whether the driver writes a slice within a time; returns as soon as it does. */
    public boolean writesWithin(int number, Duration time) {
        return context.isRequested(time, WRITES.and(Requests.after(number)));
    }

    /** Returns whether a request comes, or came, within a limit, and measures the time until then. */
    public boolean happens(String what, Predicate<RecordedRequest> request, Duration limit) {
        Measurements.Wait wait = context.measurements().begin(what, limit);
        return wait.end(context.isRequested(limit, request));
    }

    /** The first write that the API server, and not the suite, refused as invalid. */
    public Optional<RecordedRequest> refusal() {
        return context.proxy().requests(WRITES.and(request -> REFUSALS.contains(request.status()))).stream()
                .filter(request -> request.fault().isEmpty())
                .findFirst();
    }

    /** The slice that a request wrote; empty if it was in another encoding than JSON. */
    public static Optional<JsonNode> body(RecordedRequest request) {
        try {
            return Optional.of(JSON.readTree(request.body())).filter(json -> json.has("spec"));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    public void delete(JsonNode slice) {
        context.transcript().note("another client deletes slice " + SeenPools.name(slice));
        context.cluster().delete(SLICES + "/" + SeenPools.name(slice));
    }

    /** Deletes the slices, as the kubelet does when it starts and 30 s after it lost the driver. */
    public void wipe() {
        context.transcript().note("the kubelet deletes the slices of the driver on its node");
        String driver = ",spec.driver=" + context.place().driver();
        String selector = ApiObjects.encoded("spec.nodeName=" + context.place().node() + driver);
        context.cluster().deleteCollection(SLICES, "fieldSelector=" + selector);
    }

    /** Deletes all slices of the driver that its node can use, node-local or not. */
    public void deleteAll(SeenPools pools) {
        pools.slices().forEach(this::delete);
    }
}
