// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputOptions;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.ReadException;
import io.dra4j.kubectl.read.Snapshot;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code audit}, which cross-checks claims, slices, nodes and pods. */
@Command(
        name = "audit",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Cross-check the API's claims, slices, nodes and pods.",
            "A driver's own `audit` checks what only the node knows.",
            "",
            "If something is found, everything is read and checked again after a few seconds, so that changes in between are not reported.",
            "",
            "Exit status: 0 if nothing is found, 1 if something is, 2 if something could not be checked.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class AuditMain implements Callable<Integer> {

    @Mixin
    private ConnectionOptions connection;

    @Mixin
    private OutputOptions output;

    @Spec
    private CommandSpec spec;

    private final TwoLooks looks;

    /** A command that repeats its checks after a few seconds if they find something. */
    public AuditMain() {
        this(new TwoLooks());
    }

    AuditMain(TwoLooks looks) {
        this.looks = looks;
    }

    @Override
    public Integer call() {
        try (ApiReader api = connection.connect()) {
            return output.print(looks.report(() -> look(new ClusterReader(api))), spec);
        }
    }

    /**
     * Reads everything, and checks it.
     *
     * <p>Pods are read first, since they refer to claims: see {@link ClusterReader#read}. Conversely, a claim may be
     * reserved for a new pod in between; the second look sees both.
     */
    private static Report look(ClusterReader reader) {
        Supplier<List<PodInfo>> pods = pods(reader);
        Snapshot snapshot = reader.read();
        return Report.of("audit", "cluster of " + snapshot.server(), ClusterAudit.of(snapshot, pods));
    }

    /** Reads the pods now; without the right to read them, the other checks still run. */
    private static Supplier<List<PodInfo>> pods(ClusterReader reader) {
        try {
            List<PodInfo> pods = reader.pods();
            return () -> pods;
        } catch (ReadException e) {
            return () -> {
                throw new NotCheckedException(String.valueOf(e.getMessage()), e);
            };
        }
    }
}
