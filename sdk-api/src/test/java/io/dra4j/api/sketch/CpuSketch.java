// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.sketch;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.api.error.PrepareException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * CPUs of a NUMA node as one device, of which many claims have shares at once.
 *
 * <p>A share is told from another by its share id; a claim may have several shares of one device.
 * Which CPUs a claim got is one variable for all its containers.
 */
final class CpuSketch implements DeviceProvider {

    private static final String CPUS = "cpus";

    private final String node;
    private final int total;
    private final Map<String, BitSet> byClaim = new ConcurrentHashMap<>();

    CpuSketch(String node, int total) {
        this.node = node;
        this.total = total;
    }

    @Override
    public Inventory inventory() {
        RequestPolicy wholeCpus =
                RequestPolicy.range(
                        Quantity.of(1),
                        new RequestPolicy.ValidRange(Quantity.of(1), null, Quantity.of(1)));
        Device numa =
                Device.builder("numa-0")
                        .attribute(StandardAttributes.NUMA_NODE, 0)
                        .allowMultipleAllocations(true)
                        .capacity(CPUS, new Capacity(Quantity.of(total), wholeCpus))
                        .build();
        return Inventory.of(Pool.ofNode(node, List.of(numa)));
    }

    @Override
    public synchronized PreparedClaim prepare(AllocatedClaim claim, Progress progress) {
        BitSet cpus =
                byClaim.computeIfAbsent(claim.ref().uid(), uid -> choose(wanted(claim.devices())));
        ContainerEdits wholeClaim = ContainerEdits.builder().env("CPUSET", list(cpus)).build();
        List<PreparedDevice> shares = new ArrayList<>();
        for (AllocatedDevice share : claim.devices()) {
            shares.add(PreparedDevice.of(share, ContainerEdits.NONE));
        }
        return PreparedClaim.of(shares).withEdits(wholeClaim);
    }

    @Override
    public synchronized void unprepare(HeldClaim claim, Progress progress) {
        byClaim.remove(claim.ref().uid());
    }

    private static int wanted(List<AllocatedDevice> shares) {
        return shares.stream()
                .map(share -> share.consumedCapacity().get(CPUS))
                .mapToInt(amount -> amount == null ? 1 : amount.amount().intValueExact())
                .sum();
    }

    private BitSet choose(int count) {
        BitSet free = new BitSet();
        free.set(0, total);
        byClaim.values().forEach(free::andNot);
        if (free.cardinality() < count) {
            throw new PrepareException("Only " + free.cardinality() + " CPUs are free");
        }
        return free.stream().limit(count).collect(BitSet::new, BitSet::set, BitSet::or);
    }

    private static String list(BitSet cpus) {
        return cpus.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }
}
