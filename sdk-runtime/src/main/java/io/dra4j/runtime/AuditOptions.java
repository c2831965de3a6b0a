// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.runtime.internal.audit.NodeAudit;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of a driver program's command {@code audit}, beside the driver's own. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class AuditOptions {

    private static final String COMMAND = "audit";

    @Option(
            names = {"-o", "--output"},
            order = -1,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "text, or json for tools." + ProgramOptions.DEFAULT)
    private ReportFormat output;

    /** Returns whether a command line is one for an audit. */
    static boolean isFor(String[] args) {
        return args.length > 0 && args[0].equals(COMMAND);
    }

    /** Returns the options behind the command. */
    static String[] without(String[] args) {
        return Arrays.copyOfRange(args, 1, args.length);
    }

    /** Makes the command line of a driver that of its audit: with all its options. */
    CommandLine addTo(CommandLine driver) {
        CommandSpec command = driver.getCommandSpec();
        command.addMixin(COMMAND, CommandSpec.forAnnotatedObject(this));
        command.name(command.name() + " " + COMMAND)
                .usageMessage()
                .description(
                        "Holds five views of this node's claims against each other: the driver's"
                                + " journal, its CDI specs, the kubelet's record, the claims in the"
                                + " API, and the hardware. It changes nothing, and the driver may"
                                + " run meanwhile. Give it the options of the driver.",
                        "The exit status is 0 if nothing is found, 1 if something is, 2 if something"
                                + " could not be looked at, or the command line is wrong, and 3 if"
                                + " the audit could not begin.",
                        "");
        return driver;
    }

    /** Audits a node, and returns the report in the form that was asked for. */
    Report report(DriverOptions options, AuditedNode node) {
        return new NodeAudit(
                        new NodeAudit.Settings(
                                options.driverName(),
                                options.nodeName(),
                                options.kubeletPluginsDirectory()
                                        .toAbsolutePath()
                                        .normalize()
                                        .resolve(options.driverName()),
                                options.cdiRoot(),
                                options.procRoot(),
                                options.kubeconfig().orElse(null)),
                        node::inventory,
                        (boot, held, podDeletion) -> node.checks(new AuditedClaims(boot, held, podDeletion)),
                        new TwoLooks())
                .report();
    }

    String text(Report report) {
        return output.of(report);
    }
}
