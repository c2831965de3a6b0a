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
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Devices that share the counters of one piece of hardware. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record PartitionRules(TestContext context, Publishing publishing) {

    PartitionRules(TestContext context) {
        this(context, new Publishing(context));
    }

    /** The counters that a pool has, by set and name; no set is there twice. */
    private static Map<String, BigDecimal> had(String pool, List<JsonNode> slices) {
        Map<String, BigDecimal> had = new TreeMap<>();
        for (JsonNode slice : slices) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                String name = set.path("name").asText();
                for (Map.Entry<String, BigDecimal> one :
                        PublishedDevice.counters(name, set).entrySet()) {
                    Violation.unless(had.put(one.getKey(), one.getValue()) == null)
                            .because("pool %s has the counter set %s twice", pool, name);
                }
            }
        }
        return had;
    }

    @Rule("DRA-PART-01")
    void everyCounterIsInItsPool() throws InterruptedException {
        Pools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, false));
    }

    private static void check(String pool, List<JsonNode> slices, Pools pools, boolean withAmounts) {
        Map<String, BigDecimal> had = had(pool, slices);
        for (PublishedDevice device : pools.devices()) {
            if (device.pool().equals(pool)) {
                device.counters()
                        .forEach((counter, amount) -> check(device, counter, amount, had.get(counter), withAmounts));
            }
        }
    }

    private static void check(
            PublishedDevice device,
            String counter,
            BigDecimal amount,
            @Nullable BigDecimal whole,
            boolean withAmounts) {
        Violation.unless(whole != null)
                .because(
                        "device %s consumes the counter %s, and no slice of pool %s has it in its sharedCounters: no scheduler can allocate from this pool",
                        device, counter, device.pool());
        Violation.unless(!withAmounts || whole == null || amount.compareTo(whole) <= 0)
                .because(
                        "device %s consumes %s of the counter %s, which has only %s: it can never be allocated",
                        device, amount.toPlainString(), counter, whole);
    }

    @Rule("DRA-PART-02")
    void devicesFitAndOverlapIsRefused() throws InterruptedException {
        Pools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, true));
        for (PublishedDevice first : pools.devices()) {
            for (PublishedDevice second : pools.devices()) {
                if (!first.name().equals(second.name()) && isTooMuch(first, second, pools)) {
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
        Map<String, BigDecimal> both = first.counters();
        Map<String, BigDecimal> others = second.counters();
        both.keySet().retainAll(others.keySet());
        both.replaceAll((counter, amount) -> amount.add(others.get(counter)));
        return both.entrySet().stream().anyMatch(one -> one.getValue().compareTo(had.get(one.getKey())) > 0);
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
