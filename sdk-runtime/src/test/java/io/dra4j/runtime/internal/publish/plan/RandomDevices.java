// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Valid devices with any of the features that a driver can publish. */
record RandomDevices(Random random) {

    Device next(String name, Placement pool, List<CounterSet> sets) {
        Device.Builder device = Device.builder(name);
        for (int i = random.nextInt(3); i > 0; i--) {
            device.attribute("a" + random.nextInt(4), attribute());
        }
        if (random.nextInt(3) == 0) {
            device.capacity("memory", new Capacity(memory(), null));
        }
        if (random.nextInt(6) == 0) {
            device.allowMultipleAllocations(true)
                    .capacity("cores", new Capacity(Quantity.of(64), policy()));
        }
        if (random.nextInt(8) == 0) {
            device.binding(new BindingConditions(names("ready", 2), names("failed", 2)))
                    .bindsToNode(random.nextBoolean());
        }
        if (random.nextInt(10) == 0) {
            device.rawField("future", "{\"b\": [1, 2], \"a\": " + random.nextInt(3) + "}");
        }
        names("taint", random.nextInt(6) == 0 ? 2 : 0).forEach(key -> device.taint(taint(key)));
        consume(device, sets);
        return device.placement(placement(pool)).build();
    }

    private void consume(Device.Builder device, List<CounterSet> sets) {
        if (random.nextInt(3) == 0) {
            sets.stream().limit(random.nextInt(3)).forEach(set -> device.consumes(part(set)));
        }
    }

    private CounterConsumption part(CounterSet set) {
        Map<String, Quantity> part = new LinkedHashMap<>();
        set.counters().keySet().forEach(name -> part.put(name, Quantity.of(random.nextInt(3))));
        return new CounterConsumption(set.name(), part);
    }

    CounterSet counterSet(String name) {
        Map<String, Quantity> counters = new LinkedHashMap<>();
        counters.put("memory", Quantity.of(10 + random.nextInt(3)));
        counters.put("slices", Quantity.of(7));
        return new CounterSet(name, counters);
    }

    @Nullable Placement placement(Placement pool) {
        if (!(pool instanceof Placement.PerDevice)) {
            return null;
        }
        return switch (random.nextInt(3)) {
            case 0 -> new Placement.NamedNode("node-" + random.nextInt(3));
            case 1 -> new Placement.AllNodes();
            default -> new Placement.MatchingNodes(selector());
        };
    }

    NodeSelector selector() {
        return new NodeSelector(
                List.of(
                        new NodeSelector.Requirement(
                                "rack",
                                NodeSelector.Operator.IN,
                                names("r", 3),
                                NodeSelector.Subject.LABEL),
                        new NodeSelector.Requirement(
                                "metadata.name",
                                NodeSelector.Operator.NOT_IN,
                                List.of("node-" + random.nextInt(3)),
                                NodeSelector.Subject.FIELD)));
    }

    private AttributeValue attribute() {
        int n = 1 + random.nextInt(3);
        return switch (random.nextInt(12)) {
            case 0 -> AttributeValue.of(random.nextBoolean());
            case 1 -> AttributeValue.version("1.0." + n);
            case 2 -> new AttributeValue.OfStrings(names("s", 2));
            case 3 -> new AttributeValue.OfInts(List.of(1L, (long) n));
            case 4 -> new AttributeValue.OfBools(List.of(true, random.nextBoolean()));
            case 5 -> new AttributeValue.OfVersions(List.of("1.0.0-rc." + n));
            case 6, 7, 8 -> AttributeValue.of("text " + n);
            default -> AttributeValue.of(n);
        };
    }

    Quantity memory() {
        return new Quantity(
                List.of("80Gi", "81920Mi", "40Gi", "1500m", "1.5", "2e3").get(random.nextInt(6)));
    }

    private RequestPolicy policy() {
        return random.nextBoolean()
                ? RequestPolicy.values(Quantity.of(1), List.of(Quantity.of(1), Quantity.of(2)))
                : RequestPolicy.range(
                        Quantity.of(2),
                        new RequestPolicy.ValidRange(
                                Quantity.of(2), Quantity.of(64), Quantity.of(2)));
    }

    Taint taint(String key) {
        Taint.Effect effect = Taint.Effect.values()[random.nextInt(3)];
        return random.nextInt(4) > 0
                ? Taint.of("example.com/" + key, random.nextBoolean() ? "v" : null, effect)
                : new Taint(
                        "example.com/" + key, "", effect, Instant.ofEpochMilli(random.nextInt()));
    }

    private List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    /** Returns a device that says the same in another way. */
    Device rephrased(Device device) {
        return new Device(
                device.name(),
                shuffled(device.attributes()),
                shuffled(device.capacities()),
                device.allowMultipleAllocations(),
                shuffled(device.consumesCounters()),
                shuffled(device.taints()),
                rephrased(device.placement()),
                new BindingConditions(
                        shuffled(device.binding().conditions()),
                        shuffled(device.binding().failureConditions())),
                device.bindsToNode(),
                device.rawFields());
    }

    @Nullable Placement rephrased(@Nullable Placement placement) {
        return placement instanceof Placement.MatchingNodes matching
                ? new Placement.MatchingNodes(
                        new NodeSelector(
                                shuffled(matching.selector().requirements()).stream()
                                        .map(this::rephrased)
                                        .toList()))
                : placement;
    }

    private NodeSelector.Requirement rephrased(NodeSelector.Requirement requirement) {
        return new NodeSelector.Requirement(
                requirement.key(),
                requirement.operator(),
                shuffled(requirement.values()),
                requirement.subject());
    }

    <T> List<T> shuffled(List<T> list) {
        List<T> shuffled = new ArrayList<>(list);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    private <V> Map<String, V> shuffled(Map<String, V> map) {
        Map<String, V> shuffled = new LinkedHashMap<>();
        shuffled(List.copyOf(map.keySet())).forEach(key -> shuffled.put(key, map.get(key)));
        return shuffled;
    }
}
