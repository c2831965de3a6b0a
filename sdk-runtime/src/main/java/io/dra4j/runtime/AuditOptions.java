// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.runtime.internal.audit.NodeAudit;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import java.io.PrintStream;
import java.util.List;
import java.util.function.Function;
import org.slf4j.LoggerFactory;
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
final class AuditOptions {

    @Option(
            names = {"-o", "--output"},
            order = -1,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "text, or json for tools." + ProgramOptions.DEFAULT)
    private ReportFormat output;

    <O extends DriverOptions> ProgramMain.Command command(
            ProgramMain main, O options, Function<? super O, ? extends AuditedNode> node) {
        return new ProgramMain.Command(
                ProgramMain.with(this, main.line(options)), () -> run(options, node.apply(options), main.out()));
    }

    private int run(DriverOptions options, AuditedNode node, PrintStream out) {
        try (node) {
            Report report = new NodeAudit(
                            settings(options),
                            node::inventory,
                            (boot, held, podDeletion) ->
                                    node.checks(new AuditedNode.AuditedClaims(boot, held, podDeletion)),
                            new TwoLooks())
                    .report();
            return output.print(report, out);
        }
    }

    private static NodeAudit.Settings settings(DriverOptions options) {
        return new NodeAudit.Settings(
                options.driverName(),
                options.nodeName(),
                options.kubeletPluginsDirectory().toAbsolutePath().normalize().resolve(options.driverName()),
                options.cdiRoot(),
                options.procRoot(),
                options.kubeconfig().orElse(null));
    }

    /** The node of a provider that is not started, and adds no checks. */
    record Unstarted(DeviceProvider provider) implements AuditedNode {

        /** Returns the provider's configurations, and closes it. */
        List<ConfigType<?>> configTypes() {
            try (this) {
                return ConfigCheck.declared(provider.configTypes());
            }
        }

        @Override
        public Inventory inventory(List<HeldClaim> held) {
            try {
                return provider.inventory();
            } catch (Exception | LinkageError e) { // of a provider that is not started
                throw new UnsupportedOperationException(
                        "the provider can't read its devices without being started: " + e, e);
            }
        }

        @Override
        public void close() {
            try {
                provider.close();
            } catch (Exception | LinkageError e) { // of a provider that was only asked
                LoggerFactory.getLogger(AuditOptions.class)
                        .atDebug()
                        .setCause(e)
                        .log("The provider failed to close");
            }
        }
    }
}
