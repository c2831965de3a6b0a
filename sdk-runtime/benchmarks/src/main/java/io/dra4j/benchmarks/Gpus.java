// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.benchmarks;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.api.device.Taint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Pools of devices with as many attributes as a driver of GPUs publishes. */
public final class Gpus {

    public static final String NODE = "node-1";

    /** The number of partitions of a GPU. */
    private static final int SHARING_A_SET = 8;

    private Gpus() {}

    /** Returns a pool of devices without shared counters. */
    public static Pool whole(int count) {
        return Pool.ofNode(NODE, IntStream.range(0, count).mapToObj(Gpus::gpu).toList());
    }

    /** Returns a pool in which every eight devices consume counters of one set. */
    public static Pool partitioned(int count) {
        List<Device> devices = IntStream.range(0, count)
                .mapToObj(i -> gpu(i).toBuilder().consumes(share(i)).build())
                .toList();
        List<CounterSet> sets = IntStream.range(0, (count + SHARING_A_SET - 1) / SHARING_A_SET)
                .mapToObj(i -> CounterSet.of(set(i), memory(80)))
                .toList();
        return Pool.ofNode(NODE, devices).withCounterSets(sets);
    }

    /** Returns a pool whose device in the middle is tainted. */
    public static Pool withTaint(Pool pool) {
        List<Device> devices = new ArrayList<>(pool.devices());
        Taint taint = Taint.of("gpu.example.com/unhealthy", null, Taint.Effect.NO_SCHEDULE);
        devices.set(
                devices.size() / 2,
                devices.get(devices.size() / 2).toBuilder().taint(taint).build());
        return pool.toBuilder().devices(devices).build();
    }

    private static CounterConsumption share(int index) {
        return CounterConsumption.of(set(index / SHARING_A_SET), memory(10));
    }

    private static String set(int index) {
        return "gpu-" + index + "-memory";
    }

    private static Map<String, Quantity> memory(int gibibytes) {
        return Map.of("memory", new Quantity(gibibytes + "Gi"));
    }

    private static Device gpu(int index) {
        return Device.builder("gpu-" + index)
                .attribute("type", "gpu")
                .attribute("uuid", "GPU-00000000-0000-0000-0000-%012x".formatted(index))
                .attribute("productName", "NVIDIA H100 80GB HBM3")
                .attribute("brand", "Nvidia")
                .attribute("architecture", "Hopper")
                .attribute("cudaComputeCapability", AttributeValue.version("9.0.0"))
                .attribute("driverVersion", AttributeValue.version("550.163.1"))
                .attribute("cudaDriverVersion", AttributeValue.version("12.4.0"))
                .attribute(StandardAttributes.PCI_BUS_ID, "0000:%02x:00.0".formatted(index & 0xff))
                .attribute(StandardAttributes.NUMA_NODE, AttributeValue.of(index & 1))
                .capacity("memory", Capacity.of("80Gi"))
                .build();
    }
}
