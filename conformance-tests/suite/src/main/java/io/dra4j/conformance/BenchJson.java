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
import java.time.Duration;
import java.util.List;
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
                .ifPresent(
                        idle ->
                                put(
                                        root.putObject("idle")
                                                .put("afterStartSeconds", plan.idle().toSeconds()),
                                        idle));
        numbers.loaded()
                .ifPresent(
                        loaded ->
                                put(
                                        root.putObject("afterLoad")
                                                .put("held", numbers.heldAtLast()),
                                        loaded));
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
