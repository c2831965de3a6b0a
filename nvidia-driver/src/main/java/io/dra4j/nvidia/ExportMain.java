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
            "Writes the checkpoint of NVIDIA's own driver from this one's journal, so that"
                    + " it goes on with the claims. This driver must not run, and starts"
                    + " with that checkpoint again. Give it the options of the driver.",
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
