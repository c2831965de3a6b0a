// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.Refusals;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.rules.SliceLimits;
import io.dra4j.testkit.cluster.ObjectWatch;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Devices that come and go while the driver runs, by the hooks {@code plug} and {@code unplug}. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record SliceChangeRules(TestContext context, Publishing publishing) {

    private static final int ROOM = SliceLimits.DEVICES;
    private static final String PLUG_MANY = "plug-many";

    SliceChangeRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-SLICE-12")
    void devicesComeAndGo() throws InterruptedException {
        SeenPools before = publishing.settled();
        try (ObjectWatch watch = publishing.watch()) {
            change(watch, before);
        }
    }

    /** Unplugs, plugs, and returns the pools in between. */
    private SeenPools change(ObjectWatch watch, SeenPools before) throws InterruptedException {
        NotApplicable.unless(!before.devices().isEmpty(), "the driver publishes no device to unplug");
        Untested.unless(!offered(before).isEmpty(), "every device that is published is tainted");
        Opened unplugged = context.hook("unplug", "plug");
        try {
            SeenPools less = publishing
                    .measured(
                            "time from the hook unplug until a device was gone",
                            watch,
                            isLess(before),
                            context.timeouts().change())
                    .orElseThrow(() -> notGone(before));
            unplugged.close();
            publishing.restored(before, "the hook plug", context.timeouts().change());
            return less;
        } finally {
            if (!unplugged.isClosed()) {
                publishing.undo(unplugged, before);
            }
        }
    }

    /** Returns whether a device is gone, or tainted so that no claim gets it. */
    private static Predicate<SeenPools> isLess(SeenPools before) {
        Set<String> had = offered(before);
        return seen -> seen.settled() && !offered(seen).containsAll(had);
    }

    private static Set<String> offered(SeenPools pools) {
        return pools.devices().stream()
                .filter(device -> !device.isTainted())
                .map(PublishedDevice::toString)
                .collect(Collectors.toSet());
    }

    private Violation notGone(SeenPools before) {
        return new Violation(
                "%d s after the hook unplug all %d devices are still published without a taint",
                context.timeouts().change().toSeconds(), before.deviceNames().size());
    }

    @Rule("DRA-SLICE-05")
    void aChangeIsNeverSeenHalf() throws InterruptedException {
        SeenPools before = publishing.settled();
        try (ObjectWatch watch = publishing.watch()) {
            SeenPools less = change(watch, before);
            List<SeenPools> states =
                    watch.states().stream().map(publishing::seen).toList();
            context.transcript().note(states.size() + " states of the slices were seen");
            for (String pool : before.byPool().keySet()) {
                replay(pool, states, new HashSet<>(List.of(before.contentAtSight(pool), less.contentAtSight(pool))));
            }
        }
    }

    /** Checks every state as a scheduler does: only a complete pool counts, and it must be consistent. */
    private static void replay(String pool, List<SeenPools> states, Set<Content> wholes) {
        for (SeenPools state : states) {
            Content content = state.contentAtSight(pool);
            Violation.unless(content.parts().isEmpty() || wholes.contains(content))
                    .because(
                            "while devices changed, pool %s looked complete with generation %d and a mix of old and new devices: slices %s with %d devices; with two slices to change, the generation must go up",
                            pool,
                            state.byPool().get(pool) == null
                                    ? 0
                                    : SeenPools.generation(
                                            SeenPools.newest(state.byPool().get(pool))
                                                    .get(0)),
                            state.versions().parts().keySet(),
                            content.parts().size() - 1);
        }
    }

    @Rule("DRA-SLICE-04")
    void aLargePoolIsSplit() throws InterruptedException {
        publishing.settledOrRefused();
        publishing.refusal().ifPresent(SliceChangeRules::checkRoom);
        SeenPools pools = publishing.settled();
        if (largest(pools) > ROOM || !context.hooks().has(PLUG_MANY)) {
            checkSplit(pools);
            return;
        }
        int number = context.proxy().lastNumber();
        Opened plugged = context.hook(PLUG_MANY, "plug");
        try {
            SeenPools many = publishing
                    .measured(
                            "time from the hook plug-many until a pool had more than one slice holds",
                            seen -> seen.settled() && largest(seen) > ROOM,
                            context.timeouts().change())
                    .orElseThrow(() -> notSplit(number));
            checkSplit(many);
        } finally {
            publishing.undo(plugged, pools);
        }
    }

    private static void checkRoom(RecordedRequest refused) {
        int devices = Publishing.body(refused)
                .map(slice -> slice.at("/spec/devices").size())
                .orElse(0);
        Violation.unless(devices <= ROOM)
                .because(
                        "the driver put %d devices into one slice, where there is room for %d: the pool must be split; %s",
                        devices, ROOM, Refusals.words(refused));
    }

    private static int largest(SeenPools pools) {
        return pools.devices().stream()
                .collect(Collectors.groupingBy(PublishedDevice::pool, Collectors.counting()))
                .values()
                .stream()
                .mapToInt(Long::intValue)
                .max()
                .orElse(0);
    }

    private Violation notSplit(int number) {
        List<RecordedRequest> refused = publishing.writesAfter(number).stream()
                .filter(w -> w.status() == 422)
                .toList();
        return new Violation(
                "%d s after the hook %s no pool has more than %d devices, which one slice can hold; %s",
                context.timeouts().change().toSeconds(),
                PLUG_MANY,
                ROOM,
                refused.isEmpty()
                        ? "the API server refused nothing"
                        : "the API server refused slices: " + refused.get(0).errorBody());
    }

    private void checkSplit(SeenPools pools) {
        Untested.unless(
                largest(pools) > ROOM,
                "no pool has more than the %d devices of one slice, and the settings have no hook %s, which would add devices",
                ROOM,
                PLUG_MANY);
        Set<String> names = new HashSet<>();
        for (JsonNode slice : pools.slices()) {
            int devices = slice.at("/spec/devices").size();
            context.measurements().count("devices of a slice", devices, ROOM);
            Violation.unless(devices <= ROOM).because("slice %s has %d devices", SeenPools.name(slice), devices);
        }
        for (PublishedDevice device : pools.devices()) {
            Violation.unless(names.add(device.toString())).because("device %s is in two slices", device);
        }
    }
}
