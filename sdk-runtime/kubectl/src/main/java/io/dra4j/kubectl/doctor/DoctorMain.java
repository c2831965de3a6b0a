// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.cluster.ClusterChecks;
import io.dra4j.doctor.cluster.ClusterView;
import io.dra4j.doctor.cluster.Scope;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.CheckedApi;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code doctor}: what is wrong with the cluster, why, and how to fix it. */
@Command(
        name = "doctor",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Find problems that silently keep devices from pods, and how to fix them.",
            "",
            "A driver's command doctor checks what only the node shows, such as CDI in containerd.",
            ""
        },
        footer = {
            "",
            "Exit status: 0 if nothing is wrong, 1 if there are findings, 2 if there are none but a check could not run, or the command line is wrong, 3 if the cluster can't be"
                    + " read."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class DoctorMain implements Callable<Integer> {

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--driver", paramLabel = "NAME", description = "Check only this driver.")
    private @Nullable String driver;

    @Option(names = "--node", paramLabel = "NAME", description = "Check only this node.")
    private @Nullable String node;

    private String account = "";

    @Option(
            names = "--service-account",
            paramLabel = "NAMESPACE:NAME",
            description = "Check the rights of this ServiceAccount of a driver, verb by verb; you need the"
                    + " right to create SubjectAccessReviews.")
    private void account(String given) {
        if (!given.matches("[a-z0-9-]+:[a-z0-9.-]+")) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '--service-account': '%s' is not NAMESPACE:NAME".formatted(given));
        }
        account = given;
    }

    @Mixin
    private OutputOptions output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ApiReader api = connection.connect()) {
            api.find("version"); // an unreachable server is an error, not a finding
            ClusterView cluster = new ClusterView(new CheckedApi(api), new Scope(driver, node));
            List<Check> checks = new ArrayList<>(ClusterChecks.ofCluster(cluster, account));
            checks.add(new DeviceClasses(cluster));
            return output.print(Report.of(subject(), checks), spec);
        }
    }

    private String subject() {
        String what = driver == null ? "all drivers" : driver;
        return what + (node == null ? " of the cluster" : " on node " + node);
    }
}
