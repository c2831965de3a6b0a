// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputFormat;
import io.dra4j.kubectl.read.Snapshot;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code explain}: why a pod's claims do not fit, and what would help. */
@Command(
        name = "explain",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Explain why a pod or a claim gets no devices, and what would help.",
            "Reads, and never writes.",
            ""
        },
        footer = {
            "",
            "Exit status: 0 if it fits or is placed, 1 if not, 2 if the command line is wrong, 3 if the",
            "cluster can't be read."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ExplainMain implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    private final InstantSource clock;

    @Mixin
    private ConnectionOptions connection;

    @Parameters(
            arity = "0..1",
            paramLabel = "pod/NAME|claim/NAME",
            description = "A pod, or a ResourceClaim without a pod.")
    private @Nullable String name;

    @Option(
            names = {"-f", "--filename"},
            paramLabel = "FILE",
            description =
                    "A manifest with pods, workloads, claims or templates that are not applied yet; - reads standard input.")
    private @Nullable Path file;

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAME",
            description = "The namespace; by default that of the context.")
    private @Nullable String namespace;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools. Default: ${DEFAULT-VALUE}")
    private OutputFormat output;

    @Spec
    private CommandSpec spec;

    /** Makes the command, as the clock of this machine goes. */
    public ExplainMain() {
        this(InstantSource.system());
    }

    ExplainMain(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if ((name == null) == (file == null)) {
            throw new ParameterException(spec.commandLine(), "Name a pod/NAME or a claim/NAME, or a manifest with -f");
        }
        Target target = name == null ? null : target(name);
        Manifest manifest = file == null ? Manifest.EMPTY : Manifest.read(file);
        try (ApiReader api = connection.connect()) {
            String chosen = namespace == null ? api.namespace() : namespace;
            ClusterReader reader = new ClusterReader(api);
            ObjectFinder objects = new ObjectFinder(api, reader.version(), manifest.objects());
            List<Subject> subjects = target == null
                    ? manifest.subjects(objects, chosen)
                    : List.of(target.read(new SubjectReader(objects, chosen)));
            Snapshot snapshot = reader.read();
            List<Report> reports = subjects.stream()
                    .map(one -> new Reporter(snapshot, one, objects, clock).report())
                    .toList();
            print(reports);
            return reports.stream().allMatch(one -> one.result().isGood()) ? 0 : 1;
        }
    }

    private record Target(boolean pod, String name) {
        Subject read(SubjectReader reader) {
            return pod ? reader.pod(name) : reader.claim(name);
        }
    }

    private Target target(String argument) {
        int slash = argument.indexOf('/');
        String kind = slash < 0 ? "" : argument.substring(0, slash);
        String object = argument.substring(slash + 1);
        return switch (kind) {
            case "pod", "pods", "po" -> new Target(true, object);
            case "claim", "resourceclaim", "resourceclaims" -> new Target(false, object);
            default ->
                throw new ParameterException(
                        spec.commandLine(), "\"%s\" names neither pod/NAME nor claim/NAME".formatted(argument));
        };
    }

    private void print(List<Report> reports) {
        PrintWriter out = spec.commandLine().getOut();
        if (output == OutputFormat.json) {
            out.println(json(reports));
        } else {
            for (int i = 0; i < reports.size(); i++) {
                out.print((i > 0 ? "\n" : "") + ReportText.of(reports.get(i)));
            }
        }
        out.flush();
    }

    /** One object for one subject, as for a name; an array for several of a file. */
    private static String json(List<Report> reports) {
        try {
            Object root = reports.size() == 1 ? reports.get(0) : reports;
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("The report can't be written as JSON", e);
        }
    }
}
