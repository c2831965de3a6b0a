// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.conformance.claims.Allotments;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.settings.SettingsException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The devices that the driver publishes for its node, and a choice of them that claims can have.
 *
 * @param shaped gives them to claims of the settings' shape; null if they have none
 * @param none whether the settings declare that the driver has no devices there
 */
public record Devices(
        Place place, ApiObjects cluster, @Nullable Allotments shaped, boolean none) {

    String node() {
        return place.node();
    }

    public boolean areShaped() {
        return shaped != null;
    }

    /** The driver's slices that its node can use, as the API server has them now. */
    public List<JsonNode> slices() {
        String selector = "fieldSelector=" + ApiObjects.encoded("spec.driver=" + place.driver());
        return onNode(cluster.list(ApiObjects.RESOURCE + "/resourceslices", selector));
    }

    /** The driver's slices that its node can use. */
    public List<JsonNode> onNode(List<JsonNode> all) {
        Set<String> nodes = Set.of("", place.node());
        return all.stream()
                .filter(slice -> nodes.contains(slice.at("/spec/nodeName").asText()))
                .toList();
    }

    /** The driver's pools that are complete, by name: the slices of each one's newest generation. */
    public Map<String, List<JsonNode>> pools() {
        return new SeenPools(slices()).complete();
    }

    /** All devices of complete pools, by pool and name. */
    public List<PublishedDevice> all() {
        return SeenPools.devices(pools()).stream()
                .sorted(Comparator.comparing(PublishedDevice::pool).thenComparing(PublishedDevice::name))
                .toList();
    }

    /**
     * The devices that claims can have all at the same time, without tolerations; where claims have a particular shape,
     * the first device of each claim that there is room for.
     */
    public List<PublishedDevice> usable() {
        if (shaped == null) {
            return single();
        }
        Map<String, List<JsonNode>> pools = pools();
        Map<String, PublishedDevice> known = SeenPools.devices(pools).stream()
                .collect(Collectors.toMap(PublishedDevice::toString, Function.identity(), (one, other) -> one));
        return shaped.of(nodeObject(), slices(pools)).stream()
                .map(one -> known.get(one.devices().get(0)).of(one))
                .toList();
    }

    private JsonNode nodeObject() {
        return cluster.find("/api/v1/nodes/" + place.node()).orElseGet(MissingNode::getInstance);
    }

    private static List<JsonNode> slices(Map<String, List<JsonNode>> pools) {
        return pools.values().stream().flatMap(List::stream).toList();
    }

    /** The devices that claims of one device each can have all at the same time. */
    public List<PublishedDevice> single() {
        Map<String, BigDecimal> left = new HashMap<>();
        for (JsonNode slice : slices(pools())) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                left.putAll(PublishedDevice.counters(
                        SeenPools.pool(slice) + "/" + set.path("name").asText(), set));
            }
        }
        List<PublishedDevice> usable = new ArrayList<>();
        for (PublishedDevice device : all()) {
            if (!device.isTainted() && !device.isBound() && takes(device, left)) {
                usable.add(device);
            }
        }
        return usable;
    }

    /** Subtracts a device's part of the counters, and returns whether they had enough. */
    private static boolean takes(PublishedDevice device, Map<String, BigDecimal> left) {
        Map<String, BigDecimal> rest = new HashMap<>();
        device.counters().forEach((counter, amount) -> {
            String key = device.pool() + "/" + counter;
            rest.put(key, left.getOrDefault(key, BigDecimal.ZERO).subtract(amount));
        });
        boolean enough = rest.values().stream().allMatch(amount -> amount.signum() >= 0);
        if (enough) {
            left.putAll(rest);
        }
        return enough;
    }

    /**
     * The first {@code count} usable devices.
     *
     * @throws NotApplicable if the driver has fewer
     * @throws Untested if it has enough, but claims, or claims of this shape, cannot have them now
     * @throws Blocked if it publishes no complete pool
     */
    public List<PublishedDevice> some(int count) {
        List<PublishedDevice> usable = usable();
        if (usable.size() < count) {
            requirePool();
            int all = all().size();
            NotApplicable.unless(all >= count, "needs %d devices; the driver publishes %d", count, all);
            String why = areShaped() && single().size() >= count
                    ? "needs %d claims that have devices at the same time; of the %d published devices, claims of the shape in driver.claims leave room for %d"
                    : "needs %d devices that claims can have at the same time; of the %d that are published they can have %d: others are tainted, wait for binding conditions or share counters";
            throw new Untested(why.formatted(count, all, usable.size()));
        }
        return usable.subList(0, count);
    }

    /** Throws Blocked unless there is a complete pool, or NotApplicable if the settings declare no devices. */
    public void requirePool() {
        if (pools().isEmpty()) {
            NotApplicable.unless(!none, "the settings declare that the driver has no devices");
            throw blocked();
        }
    }

    /** The exception for a rule that needs a complete pool. */
    Blocked blocked() {
        List<JsonNode> slices = slices();
        List<String> incomplete = new SeenPools(slices).incomplete();
        return new Blocked(
                slices.isEmpty() ? "DRA-SLICE-01" : "DRA-SLICE-03",
                incomplete.isEmpty()
                        ? "the driver publishes no slice that its node can use"
                        : "the driver publishes no complete pool: " + String.join(", ", incomplete));
    }

    /** The first {@code most} usable devices, or as many as there are; without any, like {@link #some} for one. */
    public List<PublishedDevice> upTo(int most) {
        List<PublishedDevice> usable = usable();
        return usable.isEmpty() ? some(1) : usable.subList(0, Math.min(most, usable.size()));
    }

    /**
     * The first {@code most} devices that one claim can have, or as many as there are; where claims have a particular
     * shape, only the first.
     *
     * @throws NotApplicable if there is none
     */
    public List<PublishedDevice> forOneClaim(int most) {
        return upTo(areShaped() ? 1 : most);
    }

    /** Throws SettingsException if claims of the settings' shape can't get any of the published devices. */
    public void requireShape() {
        if (shaped != null && !all().isEmpty()) {
            List<String> complaints = shaped.complaints(nodeObject(), slices(pools()));
            if (!complaints.isEmpty()) {
                throw new SettingsException("driver.claims: " + String.join("; ", complaints));
            }
        }
    }

    /** A device that one claim can have. */
    public PublishedDevice exclusive() {
        return upTo(Integer.MAX_VALUE).stream()
                .filter(device -> !device.isShared())
                .findFirst()
                .orElseThrow(() -> new NotApplicable("every device may have several claims"));
    }

    /** A usable device for a prepare that may break a driver: one of the last, another one for each user. */
    public PublishedDevice spare(int user) {
        List<PublishedDevice> usable = upTo(Integer.MAX_VALUE);
        return usable.get(usable.size() - 1 - user % usable.size());
    }

    public PublishedDevice one() {
        return some(1).get(0);
    }
}
