// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.jna.DeviceCalls;
import io.dra4j.nvidia.nvml.jna.DeviceCalls.Capability;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads what a GPU is. */
final class GpuReader {

    private static final int VGPU = 2;
    private static final int COMPLETE = 3;
    private static final List<String> ADDRESSING = List.of("None", "HMM", "ATS");
    private static final String NO_CLUSTER = "0".repeat(32);

    private final DeviceCalls devices;
    private final MigReader mig;

    GpuReader(DeviceCalls devices, MigReader mig) {
        this.devices = devices;
        this.mig = mig;
    }

    Gpu read(long gpu) {
        Capability capability = devices.capability(gpu);
        OptionalLong memory = devices.memory(gpu);
        OptionalInt virtualization = devices.virtualization(gpu);
        boolean vgpu = virtualization.isPresent() && virtualization.getAsInt() == VGPU;
        return new Gpu(
                devices.uuid(gpu),
                PciAddress.ofNvml(devices.busId(gpu)),
                devices.minor(gpu),
                devices.name(gpu),
                Brand.name(devices.brand(gpu)),
                Architecture.of(devices.architecture(gpu)),
                capability.major() + "." + capability.minor(),
                memory.isPresent() ? memory.getAsLong() : null,
                addressing(devices.addressingMode(gpu)),
                fabric(gpu),
                devices.linked(gpu).stream().flatMap(GpuReader::address).toList(),
                vgpu ? null : mig.read(gpu),
                vgpu);
    }

    /** What is at the other end of a link matters to few: what is no address is left out. */
    private static Stream<PciAddress> address(String busId) {
        try {
            return Stream.of(PciAddress.ofNvml(busId));
        } catch (IllegalArgumentException e) {
            return Stream.of();
        }
    }

    private static @Nullable String addressing(OptionalInt mode) {
        boolean isKnown = mode.isPresent() && mode.getAsInt() < ADDRESSING.size();
        return isKnown ? ADDRESSING.get(mode.getAsInt()) : null;
    }

    private @Nullable Fabric fabric(long gpu) {
        return devices.fabric(gpu)
                .filter(found -> found.state() != 0 && !found.cluster().equals(NO_CLUSTER))
                .map(GpuReader::fabric)
                .orElse(null);
    }

    private static Fabric fabric(DeviceCalls.Fabric found) {
        String uuid =
                found.cluster().replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5");
        boolean complete = found.state() == COMPLETE && found.status() == 0;
        return new Fabric(uuid, found.clique(), complete);
    }
}
