// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.doctor.Report;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.tools.doctor.HostRoot;
import io.dra4j.tools.doctor.NodeDoctor;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A driver program's command {@code doctor}: its options, which come before the driver's. */
@Command(
        name = "doctor",
        exitCodeOnExecutionException = Report.INCOMPLETE,
        description = {
            "Finds silent problems that keep this node's devices from pods, and says how to fix them. It takes the"
                    + " driver's options, and changes nothing. Exit status: 0 if nothing is"
                    + " wrong, 1 if there are findings, 2 if there are none but a check could not run, or the command"
                    + " line is wrong.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class DoctorOptions implements NodeCommand {

    @Option(
            names = "--host-root",
            order = -4,
            paramLabel = "DIR",
            description = {
                "The node's root directory as this program sees it: the container runtime's configuration"
                        + " is there. [HOST_ROOT]",
                "Default: / outside a pod; in a pod with hostPID, the root of the node's first process"
            })
    private @Nullable Path hostRoot;

    @Option(
            names = {"-o", "--output"},
            order = -3,
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools.%nDefault: ${DEFAULT-VALUE}")
    private ReportFormat output;

    @Override
    public boolean takesDriverOptions() {
        return true;
    }

    @Override
    public int run(Program program) {
        DriverNode node = program.node();
        Path given = hostRoot == null || hostRoot.toString().isEmpty() ? null : hostRoot;
        HostRoot host = HostRoot.of(given, node.procRoot(), System.getenv());
        return output.print(new NodeDoctor(node, host).report(), program.out());
    }
}
