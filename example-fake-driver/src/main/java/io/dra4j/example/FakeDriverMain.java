// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;

/** Runs the fake driver as a program. */
public final class FakeDriverMain {

    private static final DriverProgram PROGRAM =
            new DriverProgram(
                    "dra4j-example-fake-driver",
                    "A DRA driver for GPUs that do not exist: for learning, demos and tests.",
                    "gpu.example.com",
                    FakeDriverMain.class);

    private FakeDriverMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        DriverMain.run(
                args,
                PROGRAM,
                new FakeDriverOptions(),
                FakeDriverMain::provider,
                FakeDriverMain::addAbilities);
    }

    private static void addAbilities(FakeDriverOptions options, DraDriver.Builder driver) {
        if (options.bindingConditions()) {
            driver.binder(BoundGpus::ready);
        }
    }

    private static DeviceProvider provider(FakeDriverOptions options) {
        DeviceProvider gpus =
                new FakeGpuProvider(
                        options.driverName(), options.nodeName(), options.deviceCount());
        if (options.partitions() > 0) {
            gpus = new PartitionedGpus(gpus, options.partitions());
        }
        if (options.multipleAllocations()) {
            gpus = new SharedGpus(gpus);
        }
        if (options.bindingConditions()) {
            gpus = new BoundGpus(gpus);
        }
        if (options.deviceStatus() || options.deviceMetadata()) {
            gpus = new ReportingGpus(gpus, options.deviceStatus(), options.deviceMetadata());
        }
        return options.faultFile().isPresent()
                ? new FaultyGpus(gpus, options.faultFile().get(), options.driverName())
                : gpus;
    }
}
