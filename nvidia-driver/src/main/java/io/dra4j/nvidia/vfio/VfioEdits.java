// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The device nodes of vfio, by which a virtual machine's program opens a GPU: one of the device and
 * one that all devices share, of iommufd or of the older interface.
 *
 * @param bus the PCI bus
 */
record VfioEdits(PciBus bus) {

    /** Returns the nodes of a GPU that is bound to vfio-pci. */
    ContainerEdits of(PciFunction gpu, VfioDeviceConfig config) {
        Optional<String> iommufd = config.prefersIommufd() && bus.hasIommufd()
                ? bus.vfioDevice(gpu.address())
                : Optional.empty(); // an older kernel has no such nodes
        ContainerEdits.Builder edits = ContainerEdits.builder();
        edits.deviceNode(
                DeviceNode.of(iommufd.map(name -> "/dev/vfio/devices/" + name).orElse("/dev/vfio/" + gpu.group())));
        if (config.hasApiDevice()) {
            edits.deviceNode(DeviceNode.of(iommufd.isPresent() ? "/dev/iommu" : "/dev/vfio/vfio"));
        }
        return edits.build();
    }

    /** Returns the nodes by which processes may have a function open, as of {@code /}. */
    Stream<Path> nodes(PciFunction function) {
        return Stream.concat(
                        Optional.ofNullable(function.group()).stream().map(one -> "dev/vfio/" + one),
                        bus.vfioDevice(function.address()).stream().map(one -> "dev/vfio/devices/" + one))
                .map(Path::of);
    }
}
