// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer.Passthrough;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Reading;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A reading of an installed driver, and its devices.
 *
 * @param installed the driver's fingerprint
 * @param reading what NVML reports
 * @param devices the devices of it
 * @param away the GPUs that virtual machines have, as NVML last reported them
 */
record Snapshot(String installed, Reading reading, NodeDevices devices, List<Gpu> away) {

    static final Snapshot NONE = new Snapshot("", Reading.NOTHING, NodeDevices.NONE, List.of());

    /** Copies the list. */
    Snapshot {
        away = List.copyOf(away);
    }

    /** Returns the UUIDs of GPUs whose health is unknown, among them those that NVML does not see. */
    Set<String> unknown() {
        Set<String> unknown = new HashSet<>(reading.unread());
        away.forEach(gpu -> unknown.add(gpu.uuid()));
        devices.offers().values().stream()
                .filter(offer -> offer instanceof Passthrough machine && machine.gpu() == null)
                .forEach(offer -> unknown.add(offer.uuid()));
        return unknown;
    }

    /** Returns all GPUs that are known, those that NVML reports first. */
    List<Gpu> known() {
        return Stream.concat(reading.gpus().stream(), away.stream()).toList();
    }
}
