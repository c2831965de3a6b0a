// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputFormat;
import io.dra4j.kubectl.read.Snapshot;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code tree}: nodes, pools, devices, and who has them. */
@Command(
        name = "tree",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {"Show who has which device: nodes, pools, devices in use, shares, counters.", ""})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class TreeMain implements Callable<Integer> {

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--driver", paramLabel = "NAME", description = "The devices of one driver.")
    private @Nullable String driver;

    @Option(names = "--node", paramLabel = "NAME", description = "The devices of one node.")
    private @Nullable String node;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools. Default: ${DEFAULT-VALUE}")
    private OutputFormat output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ApiReader api = connection.connect()) {
            Snapshot snapshot = new ClusterReader(api).read();
            List<Branch> branches = new Branches(snapshot)
                    .of(pool -> driver == null || driver.equals(pool.driver())).stream()
                            .filter(one -> node == null || one.place().equals(node))
                            .toList();
            boolean isText = output == OutputFormat.text;
            spec.commandLine().getOut().print(isText ? TreeText.of(branches) : TreeJson.of(branches));
            spec.commandLine().getOut().flush();
            return 0;
        }
    }
}
