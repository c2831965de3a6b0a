// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The checks of NVIDIA's nodes, on boards that do not exist. */
abstract class DoctorOnBoards {

    static final Path PAGE = Path.of("../docs-site/how-to/find-what-is-wrong.md");

    @TempDir
    Path folder;

    String label = "";

    /** A node of this label, if any. */
    private final ClusterApi cluster = new ClusterApi() {
        @Override
        public Answer get(String path) {
            try {
                String labels = label.isEmpty() ? "" : "\"%s\":\"all-1g.10gb\"".formatted(label);
                String node = "{\"metadata\":{\"name\":\"gpu-1\",\"labels\":{%s}}}".formatted(labels);
                return new Answer(200, new ObjectMapper().readTree(node), null);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        @Override
        public Answer create(String path, JsonNode body) {
            throw new AssertionError("no check creates anything");
        }
    };

    final List<String> options(StandInNode node, String... more) {
        List<String> options = ofNode(node, "--nvidia-driver-root=" + node.root(), "--sysfs-root=" + node.sysfs());
        options.addAll(List.of(more));
        return options;
    }

    final List<String> ofNode(StandInNode node, String... more) {
        List<String> options = new ArrayList<>(List.of(
                "--node-name=gpu-1",
                "--driver-name=gpu.nvidia.com",
                "--proc-root=" + node.proc(),
                "--kubelet-plugins-directory-path=" + kubelet("plugins"),
                "--kubelet-registrar-directory-path=" + kubelet("plugins_registry")));
        options.addAll(List.of(more));
        return options;
    }

    final Path kubelet(String name) {
        return folder.resolve("var/lib/kubelet").resolve(name);
    }

    final List<Check> checks(StandInNode node, String... more) {
        return parsed(options(node, more)).checks(cluster);
    }

    static NvidiaOptions parsed(List<String> args) {
        NvidiaOptions options = new NvidiaOptions();
        new CommandLine(options).parseArgs(args.toArray(String[]::new));
        return options;
    }

    final Report report(NvidiaOptions options) {
        return Report.of("node gpu-1", options.checks(cluster));
    }

    final Report report(StandInNode node, String... more) {
        return Report.of("node gpu-1", checks(node, more));
    }

    static List<String> found(Report report) {
        return report.findings().stream().map(Finding::id).toList();
    }

    final StandInNode install(String boards) throws Exception {
        StandInNode node = StandInNode.install(folder, boards);
        usual(node);
        return node;
    }

    /** The processes of a node that is healthy. */
    static void usual(StandInNode node) throws Exception {
        process(node, 2, "kthreadd", "");
        process(node, 700, "nvidia-persiste", "/dev/null");
        process(node, 701, "python3", "/dev/nvidia0");
    }

    static void process(StandInNode node, int pid, String name, String open) throws Exception {
        Path process = Files.createDirectories(node.proc().resolve(pid + "/fd")).getParent();
        Files.writeString(process.resolve("comm"), name + "\n");
        if (!open.isEmpty()) {
            Files.createSymbolicLink(process.resolve("fd/7"), Path.of(open));
        }
    }

    /** Returns the ids of the checks on the page, by a word on where they look. */
    static List<String> rows(String where) throws Exception {
        return Pattern.compile("(?m)^\\| `([a-z-]+)` \\| [^|]*\\b" + where + "\\b")
                .matcher(Files.readString(PAGE))
                .results()
                .map(row -> row.group(1))
                .toList();
    }
}
