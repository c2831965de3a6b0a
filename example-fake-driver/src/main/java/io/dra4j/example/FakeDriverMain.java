// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;

/** Runs the fake driver as a program. */
public final class FakeDriverMain {

    private FakeDriverMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        DriverProgram program = program(FakeDriverOptions.profile(args));
        DriverMain.of(program, new FakeDriverOptions(), FakeDriverMain::provider)
                .abilities(FakeDriverMain::addAbilities)
                .controller(options -> new FabricGpus(options.driverName(), options.fabricDevices))
                .run(args);
    }

    private static DriverProgram program(DeviceProfile profile) {
        return new DriverProgram(
                "dra4j-example-fake-driver",
                "A DRA driver for GPUs, CPUs or NICs that do not exist: for learning, demos and tests.",
                profile.driverName(),
                FakeDriverMain.class);
    }

    private static void addAbilities(FakeDriverOptions options, DraDriver.Builder driver) {
        if (options.bindingConditions) {
            driver.readinessCheck(BoundDevices::ready);
        }
        if (options.faultFile().isPresent()) {
            driver.healthService();
        }
    }

    static DeviceProvider provider(FakeDriverOptions options) {
        DeviceProvider devices = switch (options.profile) {
            case gpu -> gpus(options);
            case cpu -> numaNodes(options);
            case net -> nics(options);
        };
        if (options.bindingConditions) {
            devices = new BoundDevices(devices);
        }
        return options.faultFile().isPresent()
                ? new FaultyDevices(devices, options.faultFile().get(), options.driverName())
                : devices;
    }

    private static DeviceProvider numaNodes(FakeDriverOptions options) {
        return new FakeCpuProvider(
                options.driverName(), options.nodeName(), options.numaNodes, options.coresPerNumaNode);
    }

    private static DeviceProvider nics(FakeDriverOptions options) {
        DeviceProvider nics = new FakeNicProvider(options.driverName(), options.nodeName(), options.deviceCount);
        return options.networkStatus ? new ReportingNics(nics, options.nodeName()) : nics;
    }

    private static DeviceProvider gpus(FakeDriverOptions options) {
        DeviceProvider gpus = new FakeGpuProvider(
                options.driverName(), options.nodeName(), "gpu-", options.deviceCount, options.fabricDevices);
        if (options.partitions > 0) {
            gpus = new PartitionedGpus(gpus, options.partitions);
        }
        if (options.multipleAllocations) {
            gpus = new SharedGpus(gpus);
        }
        if (options.deviceStatus || options.deviceMetadata) {
            gpus = new ReportingGpus(gpus, options.deviceStatus, options.deviceMetadata);
        }
        return gpus;
    }
}
