// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.doctor.HostRoot;
import io.dra4j.runtime.internal.doctor.NodeDoctor;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
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
final class DoctorOptions {

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
            description = "Text for people, or JSON for tools." + ProgramOptions.DEFAULT)
    private ReportFormat output;

    <O extends DriverOptions> ProgramMain.Command command(
            ProgramMain main,
            O options,
            BiFunction<? super O, ? super ClusterApi, ? extends List<? extends Check>> own,
            Function<? super O, ? extends AuditedNode> node) {
        return new ProgramMain.Command(
                ProgramMain.with(this, main.line(options)),
                () -> run(main, options, cluster -> own.apply(options, cluster), () -> inventory(node.apply(options))));
    }

    private static Inventory inventory(AuditedNode node) {
        try (node) {
            return node.inventory(List.of());
        }
    }

    /** Runs the checks of every driver's node, and the driver's own. */
    private int run(
            ProgramMain main,
            DriverOptions options,
            Function<ClusterApi, List<? extends Check>> own,
            Supplier<Inventory> inventory) {
        Path given = hostRoot == null || hostRoot.toString().isEmpty() ? null : hostRoot;
        NodeDoctor doctor = new NodeDoctor(
                options.kubeconfig().orElse(null),
                options.driverName(),
                options.nodeName(),
                options.cdiRoot(),
                options.kubeletPluginsDirectory(),
                options.kubeletRegistrarDirectory(),
                options.procRoot(),
                HostRoot.of(given, options.procRoot(), main.environment()),
                options.neededGates(),
                inventory);
        return output.print(doctor.report(own), main.out());
    }
}
