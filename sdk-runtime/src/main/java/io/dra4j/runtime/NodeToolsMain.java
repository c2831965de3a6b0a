// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A driver program's commands for the people who operate its node: they are in an artifact of their own, which a driver
 * never loads.
 *
 * @param checks creates the driver's own checks for {@code doctor}
 */
record NodeToolsMain(
        ProgramMain main,
        DriverOptions options,
        Supplier<? extends AuditedNode> audited,
        Function<ClusterApi, List<? extends Check>> checks)
        implements NodeCommand.Program {

    private static final String ARTIFACT = "dra4j-node-tools";
    private static final int NOT_RUN = 3;

    /** Returns the named command; it only says what is missing if it can't be found. */
    ProgramMain.Command command(String name) {
        try {
            return ServiceLoader.load(NodeCommand.class, NodeCommand.class.getClassLoader()).stream()
                    .filter(found ->
                            found.type().getAnnotation(Command.class).name().equals(name))
                    .findFirst()
                    .map(found -> command(found.get()))
                    .orElseGet(() -> missing(name));
        } catch (ServiceConfigurationError e) { // of a jar that was minimized
            return missing(name);
        }
    }

    private ProgramMain.Command command(NodeCommand command) {
        CommandLine line =
                command.takesDriverOptions() ? ProgramMain.with(command, main.line(options)) : main.line(command);
        return new ProgramMain.Command(line, () -> command.run(this));
    }

    private ProgramMain.Command missing(String name) {
        CommandLine line = new CommandLine(CommandSpec.create().name(name)).setUnmatchedArgumentsAllowed(true);
        return new ProgramMain.Command(line, () -> {
            err().printf(
                            "%s: %s is a command of %s, which is not on this program's class path: add io.dra4j:%s to"
                                    + " the program's dependencies.%n",
                            main.program().name(), name, ARTIFACT, ARTIFACT);
            return NOT_RUN;
        });
    }

    @Override
    public PrintStream out() {
        return main.out();
    }

    @Override
    public PrintStream err() {
        return main.err();
    }

    @Override
    public void handleSignals() {
        main.ending().handleSignals();
    }

    @Override
    public boolean isEndRequestedWithin(Duration time) {
        return main.ending().isRequestedWithin(time);
    }

    @Override
    public int serve(Supplier<Runnable> start) {
        main.ending().handleSignalsOfService();
        return main.untilEnd(start);
    }

    @Override
    public DriverNode node() {
        return new DriverNode(
                options.driverName(),
                options.nodeName(),
                options.kubeconfig().orElse(null),
                options.cdiRoot(),
                options.kubeletPluginsDirectory(),
                options.kubeletRegistrarDirectory(),
                options.procRoot(),
                options.neededGates(),
                () -> new Devices(audited.get()),
                checks);
    }

    /** Devices as the driver's program opens them. */
    private record Devices(AuditedNode node) implements DriverNode.Devices {

        @Override
        public Inventory inventory(List<HeldClaim> held) {
            return node.inventory(held);
        }

        @Override
        public List<Check> checks(String bootId, List<HeldClaim> held, Function<ClaimRef, List<String>> podDeletion) {
            return node.checks(new AuditedNode.AuditedClaims(bootId, held, podDeletion));
        }

        @Override
        public void close() {
            node.close();
        }
    }
}
