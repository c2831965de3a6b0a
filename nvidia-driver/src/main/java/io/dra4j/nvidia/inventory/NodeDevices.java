// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Reading;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The devices of a node, and the hardware behind them.
 *
 * @param inventory the pool of the node
 * @param offers the hardware behind each name
 * @param problems GPUs and MIG devices that are left out, a sentence each
 */
public record NodeDevices(
        Inventory inventory, Map<DeviceName, Offer> offers, List<String> problems) {

    /** The default name of the driver, and the domain of its taints. */
    public static final String DRIVER_NAME = "gpu.nvidia.com";

    /** The state before the first reading. */
    public static final NodeDevices NONE = new NodeDevices(Inventory.of(), Map.of(), List.of());

    /** Copies the collections. */
    public NodeDevices {
        offers = Map.copyOf(offers);
        problems = List.copyOf(problems);
    }

    /**
     * The settings of the devices of a node.
     *
     * @param nodeName the node, which gives the pool its name
     * @param sysfs the mount point of sysfs
     * @param dynamicMig whether GPUs are offered with all possible MIG devices
     */
    public record Settings(String nodeName, Path sysfs, boolean dynamicMig) {}

    /**
     * Returns the devices of a reading; equal readings have equal devices in the same order.
     *
     * @throws DraException if the driver's version is malformed
     */
    public static NodeDevices of(Reading reading, Settings settings) {
        Attributes attributes =
                new Attributes(
                        semver(reading.driverVersion()),
                        reading.cudaVersion(),
                        new Sysfs(settings.sysfs()),
                        new NvlinkGroups(reading.gpus()));
        StaticOffers present = new StaticOffers(attributes);
        DynamicOffers dynamic = new DynamicOffers(attributes, present);
        List<Offered> offered = new ArrayList<>();
        for (Gpu gpu : reading.gpus()) {
            if (!gpu.productName().endsWith("DGX Display")) { // it only drives a screen
                offered.add(settings.dynamicMig() ? dynamic.of(gpu) : present.of(gpu));
            }
        }
        return joined(settings.nodeName(), offered, reading.problems());
    }

    private static String semver(String version) {
        try {
            return new DriverVersion(version).semver();
        } catch (IllegalArgumentException e) {
            throw new DraException("NVML returned an invalid value: " + e.getMessage(), e);
        }
    }

    private static NodeDevices joined(
            String nodeName, List<Offered> offered, List<String> unreadable) {
        List<Device> devices = new ArrayList<>();
        List<CounterSet> counters = new ArrayList<>();
        Map<DeviceName, Offer> offers = new HashMap<>();
        List<String> problems = new ArrayList<>(unreadable);
        for (Offered one : offered) {
            devices.addAll(one.devices().keySet());
            one.devices().forEach((device, offer) -> offers.put(device.name(), offer));
            problems.addAll(one.problems());
            if (one.counters() != null) {
                counters.add(one.counters());
            }
        }
        Pool pool = Pool.ofNode(nodeName, devices).withCounterSets(counters);
        return new NodeDevices(Inventory.of(pool), offers, problems);
    }

    /** Returns the hardware behind a name. */
    public Optional<Offer> offer(DeviceName name) {
        return Optional.ofNullable(offers.get(name));
    }
}
