// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.vfio.Passthrough;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A reading of an installed driver and of its devices.
 *
 * @param installed the driver's fingerprint
 * @param away the GPUs assigned to virtual machines, as NVML last reported them
 */
record DriverSnapshot(String installed, Reading reading, NodeDevices devices, List<Gpu> away) {

    static final DriverSnapshot NONE = new DriverSnapshot("", Reading.NOTHING, NodeDevices.NONE, List.of());

    DriverSnapshot {
        away = List.copyOf(away);
    }

    /**
     * Reads the node.
     *
     * @throws io.dra4j.nvidia.nvml.NvmlException if NVML can't be read: unknown does not mean none
     */
    static DriverSnapshot read(
            Nvml nvml,
            NodeDevices.Settings settings,
            Passthrough machines,
            Supplier<List<HeldClaim>> held,
            List<Gpu> known) {
        String installed = nvml.fingerprint();
        PassthroughGpus before = machines.gpus(held.get());
        Reading reading = before.readOthers(nvml::read);
        PassthroughGpus after = before.after(reading.gpus(), Passthrough.lent(held.get()), known);
        return new DriverSnapshot(installed, reading, NodeDevices.of(reading, settings, after), after.away());
    }

    /** Returns the UUIDs of GPUs whose health is unknown, including those that NVML does not see. */
    Set<String> unknown() {
        Set<String> unknown = new HashSet<>(reading.unread());
        away.forEach(gpu -> unknown.add(gpu.uuid()));
        devices.offers().values().stream()
                .filter(offer -> offer instanceof Offer.Passthrough machine && machine.gpu() == null)
                .forEach(offer -> unknown.add(offer.uuid()));
        return unknown;
    }

    /** Returns all known GPUs, those that NVML reports first. */
    List<Gpu> known() {
        return Stream.concat(reading.gpus().stream(), away.stream()).toList();
    }
}
