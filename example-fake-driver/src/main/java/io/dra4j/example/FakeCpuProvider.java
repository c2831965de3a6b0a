// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.StandardAttributes;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Offers fake NUMA nodes, {@code numa-0} and up: a claim takes whole cores of one, and one where it
 * says nothing.
 *
 * <p>There is nothing to configure: a claim with an opaque configuration is refused.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 */
final class FakeCpuProvider extends FakeProvider {

    private static final String CORES = "cpu";

    private final int numaNodes;
    private final int coresEach;

    FakeCpuProvider(String driverName, String nodeName, int numaNodes, int coresEach) {
        super(driverName, nodeName, "CPU_DEVICE_");
        this.numaNodes = numaNodes;
        this.coresEach = coresEach;
    }

    @Override
    List<Device> devices() {
        return IntStream.range(0, numaNodes).mapToObj(this::numaNode).toList();
    }

    private Device numaNode(int number) {
        return Device.builder("numa-" + number)
                .attribute("numaNodeID", number)
                .attribute(StandardAttributes.NUMA_NODE, number)
                .allowMultipleAllocations(true)
                .capacity(CORES, cores())
                .build();
    }

    private Capacity cores() {
        Quantity one = Quantity.of(1);
        Quantity all = Quantity.of(coresEach);
        return new Capacity(all, RequestPolicy.range(one, new ValidRange(one, all, one)));
    }

    @Override
    void tell(AllocatedDevice numaNode, String variable, ContainerEdits.Builder edits) {
        Quantity cores = numaNode.consumedCapacity().get(CORES);
        if (cores != null) {
            edits.env(variable + "_CONSUMED_CPU", cores.text());
        }
    }
}
