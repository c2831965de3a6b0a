// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.runtime.takeover.HandOver;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code export-checkpoint}, with the options of the driver. */
@Command(
        name = "export-checkpoint",
        description = {
            "Writes a checkpoint for NVIDIA's own driver from this driver's journal, so that NVIDIA's driver continues with the claims. This driver must not be running; when it starts again, it takes the claims back from that checkpoint. Takes the options of the driver.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ExportMain extends NvidiaOptions implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (HandOver handOver = HandOver.begin(driverName(), nodeName(), directory(), cdiRoot(), procRoot());
                Nvml nvml = install().nvml(procRoot())) {
            CheckpointExport export = new CheckpointExport(
                    driverName(), nvml, install().inventorySettings(nodeName()), passthrough(nvml), checkpointForm());
            spec.commandLine().getOut().println(export.run(handOver));
            return 0;
        }
    }
}
