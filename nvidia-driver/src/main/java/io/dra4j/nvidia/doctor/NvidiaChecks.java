// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.prepare.Roots;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The checks of a node with NVIDIA's GPUs. */
public final class NvidiaChecks {

    private NvidiaChecks() {}

    /**
     * Returns the checks; none has looked yet.
     *
     * @param install the options that locate NVIDIA's driver
     * @param roots the roots of the driver
     * @param hook the program that an option names; null for the driver's own
     * @param directory the driver's directory, to which it copies its own
     */
    public static List<Check> of(InstallOptions install, Roots roots, @Nullable Path hook, Path directory) {
        NodeReading node = new NodeReading(install, roots.proc());
        List<Check> checks = new ArrayList<>();
        checks.add(new DriverRootCheck(roots.here(), node));
        checks.add(new NvmlCheck(node, install.isPassthrough()));
        checks.add(
                hook == null
                        ? new HookCheck(HookProgram.copied(directory), roots, directory)
                        : new HookCheck(HookProgram.at(hook), roots, null));
        checks.add(new GpuHolders(
                node,
                new GpuHolders.Changes(install.isDynamicMig(), install.isPassthrough()),
                install.nvidiaSmi(),
                roots.proc()));
        if (install.isPassthrough()) {
            checks.addAll(new VfioChecks(install.sysfs()).all());
        }
        return checks;
    }
}
