// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.doctor.AsciiJson;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputOptions;
import io.dra4j.kubectl.read.Snapshot;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
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
            "It only reads, and changes nothing.",
            ""
        },
        footer = {
            "",
            "Exit status: 0 if it fits or is placed, 1 if not, 2 if the command line is wrong, 3 if the",
            "cluster or the file can't be read."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ExplainMain implements Callable<Integer> {
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

    @Mixin
    private OutputOptions output;

    @Spec
    private CommandSpec spec;

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
        Function<SubjectReader, Subject> target = name == null ? null : target(name);
        Manifest manifest = file == null ? Manifest.EMPTY : Manifest.read(file);
        try (ApiReader api = connection.connect()) {
            String chosen = namespace == null ? api.namespace() : namespace;
            ClusterReader reader = new ClusterReader(api);
            ObjectFinder objects = new ObjectFinder(api, reader.version(), manifest.objects());
            List<Subject> subjects = target == null
                    ? manifest.subjects(objects, chosen)
                    : List.of(target.apply(new SubjectReader(objects, chosen)));
            Snapshot snapshot = reader.read();
            List<ExplainReport> reports = subjects.stream()
                    .map(one -> new Reporter(snapshot, one, objects, clock).report())
                    .toList();
            print(reports);
            return reports.stream().allMatch(one -> one.result().isGood()) ? 0 : 1;
        }
    }

    private Function<SubjectReader, Subject> target(String argument) {
        int slash = argument.indexOf('/');
        String object = argument.substring(slash + 1);
        String kind = slash < 0 || object.isEmpty() ? "" : argument.substring(0, slash);
        return switch (kind) {
            case "pod", "pods", "po" -> reader -> reader.pod(object);
            case "claim", "resourceclaim", "resourceclaims" -> reader -> reader.claim(object);
            default ->
                throw new ParameterException(
                        spec.commandLine(), "\"%s\" names neither pod/NAME nor claim/NAME".formatted(argument));
        };
    }

    private void print(List<ExplainReport> reports) {
        PrintWriter out = spec.commandLine().getOut();
        if (output.isJson()) {
            out.print(AsciiJson.of(reports.size() == 1 ? reports.get(0) : reports));
        } else {
            for (int i = 0; i < reports.size(); i++) {
                out.print((i > 0 ? "\n" : "") + ReportText.of(reports.get(i)));
            }
        }
        out.flush();
    }

    /** Writes a report for people: the answer first, then the details, in lines of 100 columns. */
    private static final class ReportText {
        private static final int WIDTH = 100;
        private static final int MOST_LINES = 5;

        private final StringBuilder text = new StringBuilder();

        private ReportText() {}

        /** The text, with a line break at the end. */
        static String of(ExplainReport report) {
            ReportText text = new ReportText();
            text.write(report);
            return text.text.toString();
        }

        private void write(ExplainReport report) {
            line(0, report.answer());
            remedy(report);
            section("The scheduler says", report.scheduler());
            section("Also", report.notes());
            if (!report.nodes().isEmpty() && !isSaid(report)) {
                line(0, "");
                for (ExplainReport.Nodes one : report.nodes()) {
                    boolean isAnswer =
                            one == report.nodes().get(0) && report.result() == ExplainReport.Result.DOES_NOT_FIT;
                    nodes(one, isAnswer);
                }
            }
            section("A bug in Kubernetes " + report.server(), report.bugs());
            if (!report.unknown().isEmpty()) {
                line(0, "");
                line(0, "Not considered: %s.".formatted(String.join("; ", report.unknown())));
            }
        }

        /** Returns whether the first sentence says everything about the nodes. */
        private static boolean isSaid(ExplainReport report) {
            ExplainReport.Nodes first = report.nodes().get(0);
            return report.nodes().size() == 1
                    && first.requests().stream().allMatch(one -> one.refused().isEmpty())
                    && report.answer().endsWith(first.state() + ".");
        }

        private void section(String title, List<String> lines) {
            if (!lines.isEmpty()) {
                line(0, "");
                line(0, title + ":");
                lines.forEach(one -> line(2, one));
            }
        }

        /** Writes what to do: only the changes if the remedy is the first of them, otherwise both. */
        private void remedy(ExplainReport report) {
            List<ExplainReport.Changes> changes = report.changes();
            boolean isChange = !changes.isEmpty()
                    && report.remedy().startsWith(changes.get(0).sentence());
            if (isChange && changes.size() > 1) {
                line(0, "What to do: one of these, least disruptive first; each is enough in a simulation.");
            } else if (!report.remedy().isEmpty()) {
                line(0, "What to do: " + report.remedy());
            }
            if (!isChange && !changes.isEmpty()) {
                String start = report.result() == ExplainReport.Result.NOT_TRIED ? "Then" : "Or";
                line(
                        0,
                        start
                                + (changes.size() == 1
                                        ? " this, which is enough in a simulation:"
                                        : " one of these, each of which is enough in a simulation:"));
            }
            for (int i = 0; i < changes.size() && !(isChange && changes.size() == 1); i++) {
                ExplainReport.Changes one = changes.get(i);
                line(2, "%d. %s. It then fits on %s.".formatted(i + 1, one.sentence(), one.node()));
            }
            report.how().forEach(one -> line(0, one));
        }

        private void nodes(ExplainReport.Nodes nodes, boolean isAnswer) {
            String names = "%s, %s".formatted(NameList.count(nodes.count(), "node"), NameList.some(nodes.names()));
            List<ExplainReport.Request> requests = nodes.requests().stream()
                    .filter(one -> one.most() > 0 || !one.refused().isEmpty())
                    .toList();
            boolean isSaid = isAnswer && !requests.isEmpty();
            line(0, names + ":" + (isSaid ? "" : " " + nodes.state()));
            nodes.pools().stream().filter(one -> !one.equals(nodes.state())).forEach(one -> line(2, one));
            requests.forEach(this::request);
        }

        private void request(ExplainReport.Request one) {
            String of = "request %s of claim %s".formatted(one.request(), one.claim());
            String wanted = NameList.count(one.wanted(), "device");
            String most = one.most() == 0 ? "none" : Integer.toString(one.most());
            boolean fits = one.most() >= one.wanted();
            line(
                    2,
                    fits
                            ? "%s gets its %s".formatted(of, wanted)
                            : "%s wants %s, but gets %s".formatted(of, wanted, most));
            if (!fits) {
                one.refused().forEach(this::refused);
            }
        }

        private void refused(ExplainReport.Refused one) {
            line(4, "%s: %s".formatted(NameList.count(one.devices().size(), "device"), one.reason()));
            List<String> details = new ArrayList<>(one.details());
            if (details.isEmpty()) {
                details.add(NameList.some(one.devices()));
            }
            details.stream().limit(MOST_LINES).forEach(detail -> line(6, detail));
            if (details.size() > MOST_LINES) {
                line(6, "and %,d more".formatted(details.size() - MOST_LINES));
            }
        }

        /** Writes a line, broken at spaces; what follows a break is indented more. */
        private void line(int indent, String content) {
            String rest = " ".repeat(indent) + content;
            String hanging = " ".repeat(indent + 4);
            while (rest.length() > WIDTH) {
                int end = rest.lastIndexOf(' ', WIDTH);
                if (end <= indent + 4) {
                    break; // one long word
                }
                text.append(rest, 0, end).append('\n');
                rest = hanging + rest.substring(end + 1);
            }
            text.append(rest.stripTrailing()).append('\n');
        }
    }
}
