// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DeviceProvider;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;

/** Runs the NVIDIA driver as a program; {@code probe} only looks what it would publish. */
public final class NvidiaDriverMain {

    static final DriverProgram PROGRAM =
            new DriverProgram(
                    "dra4j-nvidia-driver",
                    "A DRA driver for NVIDIA GPUs and MIG devices. `probe` instead of options prints"
                            + " what it would publish, and needs no cluster; `probe --help`"
                            + " explains it.",
                    "gpu.nvidia.com",
                    NvidiaDriverMain.class);

    private NvidiaDriverMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        if (ProbeMain.isFor(args)) {
            System.exit(new ProbeMain(System.out, System.err).execute(args));
        }
        DriverMain.run(args, PROGRAM, new NvidiaOptions(), NvidiaDriverMain::provider);
    }

    private static DeviceProvider provider(NvidiaOptions options) {
        InstallOptions install = options.install();
        return new NvidiaDeviceProvider(
                install.here().openNvml(),
                new NodeDevices.Settings(
                        options.nodeName(), install.sysfsRoot(), install.dynamicMig()),
                new Edits(options.roots(), options.cdiHook()),
                new NvidiaDeviceProvider.Care(
                        options.ignoredXids(),
                        options.destroyUnknown(),
                        options.rescanInterval(),
                        new HealthStateFile(
                                options.kubeletPluginsDirectory()
                                        .resolve(options.driverName())
                                        .resolve("gpus.json"),
                                options.procRoot())));
    }
}
