// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.probe.ProbeMain;
import io.dra4j.nvidia.probe.TemplateMain;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;
import io.micrometer.core.instrument.Metrics;
import java.util.List;

/** Runs the NVIDIA driver as a program; {@code probe} only prints what it would publish. */
public final class NvidiaDriverMain {

    private static final DriverProgram PROGRAM = new DriverProgram(
            "dra4j-nvidia-driver",
            "A DRA driver for NVIDIA GPUs and MIG devices. `probe` instead of options prints"
                    + " what it would publish, and needs no cluster; `template` prints what a node with other"
                    + " GPUs would. `probe --help` and `template --help` explain them."
                    + " `export-checkpoint` hands claims back to NVIDIA's own driver.",
            NodeDevices.DRIVER_NAME,
            NvidiaDriverMain.class);

    private NvidiaDriverMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        // Not by references to the constructors, with which a driver would load the commands.
        DriverMain.of(PROGRAM, new NvidiaOptions(), NvidiaDriverMain::provider)
                .abilities(NvidiaDriverMain::addAbilities)
                .configTypes(NvidiaDriverMain::configTypes)
                .checks(NvidiaOptions::checks)
                .audited(NvidiaOptions::audited)
                .command("probe", () -> new ProbeMain())
                .command("template", () -> new TemplateMain())
                .command("export-checkpoint", () -> new ExportMain())
                .run(args);
    }

    private static void addAbilities(NvidiaOptions options, DraDriver.Builder driver) {
        driver.healthService().legacyPlugin(options.legacyPlugin());
        options.takeOver().ifPresent(driver::takeOver);
    }

    private static List<ConfigType<?>> configTypes(NvidiaOptions options) {
        options.install().gates().check();
        return ConfigKinds.of(options.featureGates());
    }

    private static DeviceProvider provider(NvidiaOptions options) {
        options.install().gates().check();
        Nvml nvml = options.install().nvml(options.procRoot());
        NvidiaDeviceProvider provider = new NvidiaDeviceProvider(
                nvml,
                options.install().inventorySettings(options.nodeName()),
                options.edits(),
                options.healthPolicy(),
                options.sharing(),
                options.passthrough(nvml),
                new PartitionClaims(
                        options.install().fabricManager(),
                        nvml,
                        options.install().nvidiaSmi(),
                        options.directory().resolve("partitions")));
        if (options.isWithNvidiaMetrics()) {
            GoMetrics.addTo(Metrics.globalRegistry, options.driverName(), options.nodeName(), provider::held);
        }
        return provider;
    }
}
