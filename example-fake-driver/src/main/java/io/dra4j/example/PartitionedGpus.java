// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import java.math.BigDecimal;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Offers each GPU as a whole and in equal partitions, which exclude each other.
 *
 * <p>A GPU's capacities become the counters that its devices share: the partitions {@code gpu-0-partition-0} and up
 * take a part each, {@code gpu-0-full} takes all. So the scheduler knows which of them exclude one another.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815</a>
 */
final class PartitionedGpus extends DecoratedDevices {

    /** The maximum number of partitions, each of which still has 1Gi of memory. */
    static final int MOST_PARTITIONS = 80;

    private final int partitions;

    /** Offers the GPUs in 1 to {@link #MOST_PARTITIONS} partitions each. */
    PartitionedGpus(DeviceProvider gpus, int partitions) {
        super(gpus);
        this.partitions = partitions;
    }

    @Override
    Pool decorate(Pool pool) {
        return pool.toBuilder()
                .devices(pool.devices().stream().flatMap(this::devices).toList())
                .counterSets(
                        pool.devices().stream().map(PartitionedGpus::counters).toList())
                .build();
    }

    /** Lists the partitions first, so that the scheduler allocates a whole GPU last. */
    private Stream<Device> devices(Device gpu) {
        return Stream.concat(
                IntStream.range(0, partitions).mapToObj(number -> partition(gpu, number)), Stream.of(full(gpu)));
    }

    private Device partition(Device gpu, int number) {
        Device.Builder partition = Device.builder(gpu.name() + "-partition-" + number)
                .physicalId(gpu.physicalId() + "/" + number)
                .attributes(gpu.attributes())
                .attribute("partition", number)
                .attribute("partitionable", true);
        gpu.capacities().forEach((name, whole) -> partition.capacity(name, part(whole.value())));
        return consuming(gpu, partition.build());
    }

    private static Device full(Device gpu) {
        Device.Builder full = Device.builder(gpu.name() + "-full")
                .physicalId(gpu.physicalId())
                .attributes(gpu.attributes())
                .attribute("partitionable", true)
                .attribute("full", true)
                .capacities(gpu.capacities());
        return consuming(gpu, full.build());
    }

    private static Device consuming(Device gpu, Device part) {
        return part.toBuilder()
                .consumes(CounterConsumption.of(counterSet(gpu), amounts(part)))
                .build();
    }

    private static CounterSet counters(Device gpu) {
        return CounterSet.of(counterSet(gpu), amounts(gpu));
    }

    private static String counterSet(Device gpu) {
        return gpu.name() + "-counters";
    }

    private static Map<String, Quantity> amounts(Device gpu) {
        return gpu.capacities().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> each.getValue().value()));
    }

    /** Rounds down to whole units, in which shares of a partition are also measured. */
    private Capacity part(Quantity whole) {
        BigDecimal unit = SharedGpus.unit(whole).amount();
        BigDecimal units = whole.amount().divideToIntegralValue(unit.multiply(BigDecimal.valueOf(partitions)));
        return new Capacity(Quantity.ofBytes(units.multiply(unit).longValueExact()), null);
    }
}
