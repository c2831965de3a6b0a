// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.apiserver.validation.Quantities;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Devices that share the counters of one piece of hardware. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record PartitionRules(TestContext context, Publishing publishing) {

    PartitionRules(TestContext context) {
        this(context, new Publishing(context));
    }

    /** The amount of one counter that a device takes, or a set has. */
    private record Amount(String owner, String counter, BigDecimal value) {}

    private static List<Amount> amounts(String pool, String set, JsonNode counters) {
        List<Amount> amounts = new ArrayList<>();
        counters.properties()
                .forEach(
                        counter ->
                                amounts.add(
                                        new Amount(
                                                pool,
                                                set + "/" + counter.getKey(),
                                                Quantities.exact(
                                                        counter.getValue()
                                                                .path("value")
                                                                .asText()))));
        return amounts;
    }

    /** The counters that a pool has, by set and name; no set is there twice. */
    private static Map<String, BigDecimal> had(String pool, List<JsonNode> slices) {
        Map<String, BigDecimal> had = new TreeMap<>();
        for (JsonNode slice : slices) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                for (Amount amount :
                        amounts(pool, set.path("name").asText(), set.path("counters"))) {
                    Violation.unless(had.put(amount.counter(), amount.value()) == null)
                            .because(
                                    "pool %s has the counter set %s twice",
                                    pool, set.path("name").asText());
                }
            }
        }
        return had;
    }

    private static List<Amount> taken(PublishedDevice device) {
        List<Amount> taken = new ArrayList<>();
        for (JsonNode one : device.json().path("consumesCounters")) {
            taken.addAll(
                    amounts(device.name(), one.path("counterSet").asText(), one.path("counters")));
        }
        return taken;
    }

    @Rule("DRA-PART-01")
    void everyCounterIsInItsPool() throws InterruptedException {
        Pools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, false));
    }

    private static void check(
            String pool, List<JsonNode> slices, Pools pools, boolean withAmounts) {
        Map<String, BigDecimal> had = had(pool, slices);
        for (PublishedDevice device : pools.devices()) {
            for (Amount amount : device.pool().equals(pool) ? taken(device) : List.<Amount>of()) {
                BigDecimal whole = had.get(amount.counter());
                Violation.unless(whole != null)
                        .because(
                                "device %s consumes the counter %s, and no slice of pool %s has it in its sharedCounters: no scheduler can allocate from this pool",
                                device, amount.counter(), pool);
                Violation.unless(
                                !withAmounts
                                        || whole == null
                                        || amount.value().compareTo(whole) <= 0)
                        .because(
                                "device %s consumes %s of the counter %s, which has only %s: it can never be allocated",
                                device, amount.value().toPlainString(), amount.counter(), whole);
            }
        }
    }

    @Rule("DRA-PART-02")
    void devicesFitAndOverlapIsRefused() throws InterruptedException {
        Pools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, true));
        for (PublishedDevice first : pools.devices()) {
            for (PublishedDevice second : pools.devices()) {
                if (first != second && isTooMuch(first, second, pools)) {
                    refuse(first, second);
                    return;
                }
            }
        }
        throw new NotApplicable("no two devices exclude one another by their counters");
    }

    private static boolean isTooMuch(PublishedDevice first, PublishedDevice second, Pools pools) {
        if (!first.pool().equals(second.pool()) || first.isTainted() || second.isTainted()) {
            return false;
        }
        Map<String, BigDecimal> had = had(first.pool(), pools.byPool().get(first.pool()));
        return taken(first).stream()
                .anyMatch(
                        one ->
                                taken(second).stream()
                                        .filter(other -> other.counter().equals(one.counter()))
                                        .anyMatch(
                                                other ->
                                                        one.value()
                                                                        .add(other.value())
                                                                        .compareTo(
                                                                                had.get(
                                                                                        one
                                                                                                .counter()))
                                                                > 0));
    }

    private void refuse(PublishedDevice first, PublishedDevice second) {
        context.preparedClaim(first);
        KubeletClaim other = context.claims().allocate(second);
        context.calls()
                .refused(
                        other,
                        "device %s overlaps with %s, which another claim holds: together they take more than their counters have"
                                .formatted(second, first));
    }
}
