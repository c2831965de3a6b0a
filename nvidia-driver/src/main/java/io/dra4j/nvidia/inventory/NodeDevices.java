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
 * The devices of a node, and what their names stand for.
 *
 * @param inventory the pool of the node
 * @param offers what each name stands for
 * @param troubles what is left out, a sentence each
 */
public record NodeDevices(
        Inventory inventory, Map<DeviceName, Offer> offers, List<String> troubles) {

    /** Before anything was read. */
    public static final NodeDevices NONE = new NodeDevices(Inventory.of(), Map.of(), List.of());

    /** Copies what it is given. */
    public NodeDevices {
        offers = Map.copyOf(offers);
        troubles = List.copyOf(troubles);
    }

    /**
     * How devices are made of what NVML says.
     *
     * @param nodeName the node, after which the pool is named
     * @param sysfs where sysfs is mounted
     * @param dynamicMig whether GPUs are offered with all that they could be divided into
     */
    public record Settings(String nodeName, Path sysfs, boolean dynamicMig) {}

    /**
     * Makes devices; equal readings make equal devices in the same order.
     *
     * @throws DraException if the driver's version is none
     */
    public static NodeDevices of(Reading reading, Settings settings) {
        NodeFacts node =
                new NodeFacts(
                        semver(reading.driverVersion()),
                        reading.cudaVersion(),
                        new Sysfs(settings.sysfs()),
                        new NvlinkGroups(reading.gpus()));
        Attributes attributes = new Attributes(node);
        StaticOffers asDivided = new StaticOffers(attributes);
        DynamicOffers dividable = new DynamicOffers(attributes, asDivided);
        List<Offered> offered = new ArrayList<>();
        for (Gpu gpu : reading.gpus()) {
            if (!gpu.productName().endsWith("DGX Display")) { // drives a screen, and computes not
                offered.add(settings.dynamicMig() ? dividable.of(gpu) : asDivided.of(gpu));
            }
        }
        return joined(settings.nodeName(), offered, reading.troubles());
    }

    private static String semver(String version) {
        try {
            return new DriverVersion(version).semver();
        } catch (IllegalArgumentException e) {
            throw new DraException("NVML can't be believed: " + e.getMessage(), e);
        }
    }

    private static NodeDevices joined(
            String nodeName, List<Offered> offered, List<String> unreadable) {
        List<Device> devices = new ArrayList<>();
        List<CounterSet> counters = new ArrayList<>();
        Map<DeviceName, Offer> offers = new HashMap<>();
        List<String> troubles = new ArrayList<>(unreadable);
        for (Offered one : offered) {
            devices.addAll(one.devices());
            offers.putAll(one.offers());
            troubles.addAll(one.troubles());
            if (one.counters() != null) {
                counters.add(one.counters());
            }
        }
        Pool pool = Pool.ofNode(nodeName, devices).withCounterSets(counters);
        return new NodeDevices(Inventory.of(pool), offers, troubles);
    }

    /** What a name stands for. */
    public Optional<Offer> offer(DeviceName name) {
        return Optional.ofNullable(offers.get(name));
    }
}
