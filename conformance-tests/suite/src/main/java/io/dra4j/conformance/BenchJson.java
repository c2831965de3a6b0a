// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.load.DriverNumbers;
import io.dra4j.conformance.load.Footprint;
import io.dra4j.conformance.load.LoadPlan;
import io.dra4j.conformance.load.LongRun;
import io.dra4j.conformance.load.Measure;
import io.dra4j.conformance.load.NodesNumbers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** The numbers of {@code bench} as JSON; what is no plain number has its unit in its name. */
final class BenchJson {

    private BenchJson() {}

    /** The numbers of one driver, and in {@code against} those of the other, if there is one. */
    static String of(List<DriverNumbers> numbers, LoadPlan plan) {
        ObjectNode root = driver(numbers.get(0), plan);
        if (numbers.size() > 1) {
            root.set("against", driver(numbers.get(1), plan));
        }
        return root.toPrettyString() + "\n";
    }

    private static ObjectNode driver(DriverNumbers numbers, LoadPlan plan) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("driver", numbers.driver());
        numbers.idle()
                .ifPresent(idle -> put(
                        root.putObject("idle")
                                .put("afterStartSeconds", plan.idle().toSeconds()),
                        idle));
        numbers.loaded()
                .ifPresent(loaded -> put(root.putObject("afterLoad").put("held", numbers.heldAtLast()), loaded));
        ArrayNode floors = root.putArray("floors");
        numbers.floors().forEach(floor -> put(floors.addObject(), floor));
        ArrayNode all = root.putArray("measures");
        for (Measure measure : numbers.measures()) {
            ObjectNode one = all.addObject();
            put(one, measure);
            ratio(one, "p50ToOneClaim", numbers.toOneClaim(measure));
            ratio(one, "p50ToNoneHeld", numbers.toNoneHeld(measure));
            ratio(one, "p50ToFloor", numbers.toFloor(measure));
        }
        return root;
    }

    /** The numbers of the drivers of many nodes. */
    static String of(NodesNumbers numbers) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("nodes", numbers.plan().nodes())
                .put("devicesEach", numbers.plan().devices());
        root.put("registered", numbers.registered());
        root.put("slices", numbers.slices())
                .put("complete", numbers.incomplete().isEmpty());
        root.put("publishingMs", milliseconds(numbers.publishing()));
        put(root.putObject("requests"), numbers.requests());
        root.put("allRequests", numbers.allRequests());
        root.put("requestsEach", numbers.each(numbers.allRequests()));
        put(root.putObject("withOneDriver"), numbers.one());
        put(root.putObject("withAllDrivers"), numbers.all());
        Footprint one = numbers.one().footprint();
        Footprint all = numbers.all().footprint();
        root.putObject("eachAdds")
                .put("residentBytes", numbers.added(one.residentBytes(), all.residentBytes()))
                .put("anonymousBytes", numbers.added(one.anonymousBytes(), all.anonymousBytes()))
                .put(
                        "heapBytes",
                        numbers.added(numbers.one().heapBytes(), numbers.all().heapBytes()))
                .put("threads", numbers.added(one.threads(), all.threads()));
        NodesNumbers.Idle idle = numbers.idle();
        ObjectNode rest = root.putObject("idle").put("lastedMs", milliseconds(idle.lasted()));
        put(rest.putObject("requests"), idle.requests());
        rest.put("cpuPercent", idle.cpuPercent());
        rest.put("cpuPercentEach", numbers.each(idle.cpuPercent()));
        return root.toPrettyString() + "\n";
    }

    private static void put(ObjectNode into, Map<String, Long> counts) {
        counts.forEach(into::put);
    }

    private static void put(ObjectNode into, NodesNumbers.Host host) {
        put(into, host.footprint());
        into.put("heapBytes", host.heapBytes());
    }

    private static void put(ObjectNode into, Footprint footprint) {
        into.put("residentBytes", footprint.residentBytes())
                .put("anonymousBytes", footprint.anonymousBytes())
                .put("threads", footprint.threads())
                .put("processes", footprint.processes());
    }

    private static void put(ObjectNode into, Measure measure) {
        into.put("what", measure.what())
                .put("claims", measure.batch())
                .put("held", measure.held())
                .put("times", measure.times().size())
                .put("p50Ms", milliseconds(measure.percentile(50)))
                .put("p99Ms", milliseconds(measure.percentile(99)))
                .put("longestMs", milliseconds(measure.longest()))
                .put("withinLimit", measure.isWithinLimit());
    }

    private static double milliseconds(Duration time) {
        return time.toNanos() / 1e6;
    }

    private static void ratio(ObjectNode into, String name, OptionalDouble ratio) {
        ratio.ifPresent(value -> into.put(name, Math.round(value * 1000) / 1000.0));
    }

    /** The states in a run of many calls. */
    static String of(List<LongRun.Part> parts, long growthBytes) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("growthBytes", growthBytes);
        ArrayNode all = root.putArray("parts");
        for (LongRun.Part part : parts) {
            ObjectNode one = all.addObject();
            one.put("calls", part.calls());
            put(one, part.footprint());
            one.put("prepareP50Ms", milliseconds(part.prepares().percentile(50)));
            one.put("prepareP99Ms", milliseconds(part.prepares().percentile(99)));
        }
        return root.toPrettyString() + "\n";
    }
}
