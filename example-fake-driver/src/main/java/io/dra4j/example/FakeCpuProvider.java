// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.StandardAttributes;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Offers fake NUMA nodes, {@code numa-0} and up, of which a claim takes whole cores, one by default.
 *
 * <p>It has no configuration: a claim with an opaque configuration is refused. The cores are part of the node's
 * allocatable CPUs, as the scheduler counts them for pods.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5517-dra-node-allocatable-resources">
 *     KEP-5517</a>
 */
final class FakeCpuProvider extends FakeProvider {

    /** The name of the capacity in claims, without the driver's domain. */
    private static final String CPU = "cpu";

    private final String cores;
    private final int numaNodes;
    private final int coresEach;

    FakeCpuProvider(String driverName, String nodeName, int numaNodes, int coresEach) {
        super(driverName, nodeName, "CPU_DEVICE_");
        this.cores = driverName + "/" + CPU; // as in the community's driver
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
                .capacity(cores, capacity())
                .nodeAllocatableResource(CPU, allocatable())
                .build();
    }

    /** Takes a claim's cores from those for pods without a claim, if the server supports it. */
    private NodeAllocatableResource allocatable() {
        return NodeAllocatableResource.builder()
                .mapping(new OfCapacity(cores, Quantity.of(1)))
                .mayBeLeftOut(true)
                .build();
    }

    /** The server refuses a step beyond the capacity. */
    private Capacity capacity() {
        Quantity one = Quantity.of(1);
        Quantity all = Quantity.of(coresEach);
        return new Capacity(all, RequestPolicy.range(one, new ValidRange(one, all, coresEach > 1 ? one : null)));
    }

    @Override
    void describe(AllocatedDevice numaNode, String variable, ContainerEdits.Builder edits) {
        Quantity consumed = numaNode.consumedCapacity().get(CPU);
        if (consumed != null) {
            edits.env(variable + "_CONSUMED_CPU", consumed.text());
        }
    }
}
