// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputFormat;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.ReadException;
import io.dra4j.kubectl.read.Snapshot;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code audit}: claims, slices, nodes and pods against each other. */
@Command(
        name = "audit",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Hold the API's claims, slices, nodes and pods against each other.",
            "What a node itself knows, a driver's own `audit` looks at.",
            "",
            "Exit status: 0 if nothing is found, 1 if something is, 2 if something could not be"
                    + " looked at.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class AuditMain implements Callable<Integer> {

    @Mixin private ConnectionOptions connection;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools. Default: ${DEFAULT-VALUE}")
    private OutputFormat output;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        try (ApiReader api = connection.connect()) {
            ClusterReader reader = new ClusterReader(api);
            Snapshot snapshot = reader.read();
            Report report =
                    Report.of(
                            "audit",
                            "cluster of " + snapshot.server(),
                            ClusterAudit.of(snapshot, () -> pods(reader)));
            spec.commandLine()
                    .getOut()
                    .print(output == OutputFormat.text ? report.text() : report.json());
            spec.commandLine().getOut().flush();
            return report.exitStatus();
        }
    }

    private static List<PodInfo> pods(ClusterReader reader) {
        try {
            return reader.pods();
        } catch (ReadException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }
}
