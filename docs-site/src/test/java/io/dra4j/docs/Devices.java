// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Device;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;

/** The devices of both drivers, as the pages describe them. */
final class Devices {

    private Devices() {}

    /** The provider of the fake driver's program with these options. */
    static DeviceProvider fake(String... options) throws Exception {
        Class<?> type = Class.forName("io.dra4j.example.FakeDriverOptions");
        CommandLine command = new CommandLine(type);
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--node-name=node-1");
        command.parseArgs(all.toArray(String[]::new));
        Method provider = Class.forName("io.dra4j.example.FakeDriverMain").getDeclaredMethod("provider", type);
        provider.setAccessible(true);
        Object given = command.getCommand();
        return (DeviceProvider) provider.invoke(null, given);
    }

    static List<Device> fakeDevices(String... options) throws Exception {
        return fake(options).inventory().pools().stream()
                .flatMap(pool -> pool.devices().stream())
                .toList();
    }

    /** The devices of boards that the stand-in for NVML simulates. */
    static List<Device> ofBoards(Path folder, String boards, boolean dynamicMig) {
        StandInNode node = StandInNode.install(folder.resolve(boards), boards);
        try (Nvml nvml = Nvml.open(node.library())) {
            NodeDevices.Settings settings = new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig);
            return NodeDevices.of(nvml.read(), settings).inventory().pools().stream()
                    .flatMap(pool -> pool.devices().stream())
                    .toList();
        }
    }

    /** The same, where virtual machines can have the GPUs. */
    static List<Device> ofMachines(Path folder, String boards) throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("vfio-" + boards), boards);
        try (PciStandIn kernel = PciStandIn.install(node);
                Nvml nvml = Nvml.open(node.library())) {
            PassthroughGpus gpus = PassthroughGpus.of(new PciBus(node.sysfs()).gpus(), Set.of());
            assertThat(kernel.gpus()).hasSameSizeAs(gpus.functions());
            NodeDevices.Settings settings = new NodeDevices.Settings("node-1", node.sysfs(), false);
            return NodeDevices.of(nvml.read(), settings, gpus).inventory().pools().stream()
                    .flatMap(pool -> pool.devices().stream())
                    .toList();
        }
    }
}
