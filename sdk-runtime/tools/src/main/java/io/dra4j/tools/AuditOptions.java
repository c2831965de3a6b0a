// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.doctor.TwoLooks;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.NodeCommand;
import io.dra4j.tools.audit.NodeAudit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A driver program's command {@code audit}: its options, which come before the driver's. */
@Command(
        name = "audit",
        exitCodeOnExecutionException = 3,
        description = {
            "Cross-checks five views of this node's claims: the driver's journal, its CDI specs, the"
                    + " kubelet's record, the claims in the API, and the hardware. It changes nothing, and can run"
                    + " while the driver does. It takes the driver's options.",
            "The exit status is 0 if nothing is found, 1 if something is, 2 if a check could not run, or the"
                    + " command line is wrong, and 3 if the audit could not begin.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class AuditOptions implements NodeCommand {

    @Option(
            names = {"-o", "--output"},
            order = -1,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "text, or json for tools.%nDefault: ${DEFAULT-VALUE}")
    private ReportFormat output;

    @Override
    public boolean takesDriverOptions() {
        return true;
    }

    @Override
    public int run(Program program) {
        DriverNode node = program.node();
        try (DriverNode.Devices devices = node.devices().get()) {
            return output.print(new NodeAudit(node, devices, new TwoLooks()).report(), program.out());
        }
    }
}
