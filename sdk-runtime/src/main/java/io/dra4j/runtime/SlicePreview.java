// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.Names;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.PlannedSlice;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Shows the slices that a driver would publish, without a cluster: for a vendor's tests and tools.
 *
 * <p>It checks an inventory by the rules of the publisher, which leaves out devices that break one, and withholds a
 * pool that does. The API server adds names, owners and times, and may leave out what its feature gates forbid.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/"> ResourceSlice</a>
 */
public final class SlicePreview {

    private SlicePreview() {}

    /**
     * Returns the rules that an inventory breaks; a driver publishes no pool and no device that breaks one.
     *
     * <p>Problems are in the API server's words, with its names of fields, except that a device's name replaces its
     * index. The rules are those of Kubernetes 1.37 with all feature gates on; an older server may refuse more, which
     * the driver finds at run time. One rule is left to {@link #problems(String, Inventory)}, as it needs the driver's
     * name.
     *
     * @param inventory what the provider offers
     * @return a sentence for each problem that names pool, device and field, the first hundred of each pool; empty if
     *     all would be published
     */
    public static List<String> problems(Inventory inventory) {
        return problems(inventory, pool -> new SliceCodec(driverOf(pool), "node"));
    }

    /**
     * Returns the rules that an inventory breaks, including the rule that no device has an attribute or capacity twice:
     * with the driver's own domain, {@code gpu.example.com/memory}, and without.
     *
     * @param driverName the driver's name
     * @param inventory what the provider offers
     * @return a sentence for each problem, as in {@link #problems(Inventory)}
     */
    public static List<String> problems(String driverName, Inventory inventory) {
        SliceCodec codec = new SliceCodec(Objects.requireNonNull(driverName, "driverName"), "node");
        return problems(inventory, pool -> codec);
    }

    /** A driver may leave out its own domain in the names of attributes. */
    private static String driverOf(Pool pool) {
        String attribute = Objects.requireNonNullElse(pool.partitionTypeAttribute(), "");
        String domain = attribute.substring(0, Math.max(0, attribute.indexOf('/')));
        return Names.driverProblems(domain).isEmpty() ? domain : "driver";
    }

    private static List<String> problems(Inventory inventory, Function<Pool, SliceCodec> codecs) {
        Map<String, String> hardware = new HashMap<>();
        return Objects.requireNonNull(inventory, "inventory").pools().stream()
                .flatMap(pool -> problems(codecs.apply(pool), pool, hardware).map(Problem::toString))
                .toList();
    }

    private static Stream<Problem> problems(SliceCodec codec, Pool pool, Map<String, String> hardware) {
        return new PoolRules(codec.driver(), codec::refusals).problems(pool, hardware).stream();
    }

    /**
     * Returns the slices of an inventory, of at most 64 devices.
     *
     * @param driverName the driver's name
     * @param nodeName the node that would publish them
     * @param inventory what the provider offers
     * @return a JSON object of {@code resource.k8s.io/v1} for each slice, in order
     * @throws IllegalArgumentException if there are {@link #problems}; the message has all of them
     */
    public static List<String> rawJson(String driverName, String nodeName, Inventory inventory) {
        return rawJson(driverName, nodeName, inventory, DraDriver.SMALLEST_SLICE);
    }

    /**
     * Returns the slices of an inventory.
     *
     * @param driverName the driver's name
     * @param nodeName the node that would publish them
     * @param inventory what the provider offers
     * @param devicesPerSlice what the driver is built with: {@link DraDriver.Builder#devicesPerSlice}
     * @return a JSON object of {@code resource.k8s.io/v1} for each slice, in order
     * @throws IllegalArgumentException if there are {@link #problems}; the message has all of them
     */
    public static List<String> rawJson(String driverName, String nodeName, Inventory inventory, int devicesPerSlice) {
        Objects.requireNonNull(driverName, "driverName");
        Objects.requireNonNull(nodeName, "nodeName");
        SliceCodec codec = new SliceCodec(driverName, nodeName);
        List<String> problems = problems(driverName, inventory);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("The inventory can't be published:\n- " + String.join("\n- ", problems));
        }
        return inventory.pools().stream()
                .filter(pool -> !(pool.placement() instanceof Placement.PublishedElsewhere))
                .flatMap(pool -> plan(pool, devicesPerSlice == DraDriver.SMALLEST_SLICE))
                .map(codec::json)
                .toList();
    }

    private static Stream<Content> plan(Pool pool, boolean mayTaint) {
        Pool newest = Publishable.of(pool, Set.of(Feature.ALLOCATABLE_MAPPINGS)).pool();
        List<PlannedSlice> slices = CounterLayout.APART.plan(newest, List.of(), mayTaint);
        return slices.stream().map(slice -> slice.content().at(1, slices.size()));
    }
}
