// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.load.LoadRun;
import io.dra4j.conformance.load.Measure;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bench}: how long a driver takes. */
@Command(
        name = "bench",
        customSynopsis = {
            "dra-conformance bench [OPTION]... --driver-name=NAME -- COMMAND...",
            "       dra-conformance bench [OPTION]... --config=FILE"
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Measure a driver: prepare and unprepare of 1, 8 and 32 claims in a call, with 0, 200 and 1000 claims held, and publishing.",
            "Each claim has a device of its own. With fewer devices than 32, calls have as many claims as there are devices; with fewer than are to be held besides, that is left out.",
            ""
        },
        footer = {
            "",
            DriverOptions.PLACES,
            "Exit status: 0, or 1 if a call failed or took longer than the kubelet allows, 3 if the suite or the driver could not be run."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BenchMain implements Callable<Integer> {

    @Mixin private DriverOptions options;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "100",
            description = "How often each call is measured. Default: ${DEFAULT-VALUE}")
    private int rounds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the numbers as JSON, too.")
    @Nullable Path json;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try {
            return measure();
        } catch (Violation e) {
            spec.commandLine().getErr().println("dra-conformance: " + e.getMessage());
            return 1;
        }
    }

    private int measure() throws IOException {
        Settings settings = DriverOptions.settings(spec);
        PrintWriter out = spec.commandLine().getOut();
        LoadRun run =
                new LoadRun(
                        settings,
                        DriverAdapters.of(settings.driver()),
                        rounds,
                        remark -> {
                            out.println(remark);
                            out.flush();
                        });
        List<Measure> measures = run.run();
        print(measures, out);
        Path file = json;
        if (file != null) {
            Files.writeString(file, json(settings, measures));
            out.println("Numbers: " + file);
        }
        out.flush();
        return measures.stream().allMatch(Measure::isWithinLimit) ? 0 : 1;
    }

    private static void print(List<Measure> measures, PrintWriter out) {
        out.printf(
                "%n%-18s %6s %6s %6s %12s %12s %12s%n",
                "what", "claims", "held", "times", "p50", "p99", "longest");
        for (Measure measure : measures) {
            out.printf(
                    "%-18s %6s %6d %6d %12s %12s %12s%s%n",
                    measure.what(),
                    measure.batch() == 0 ? "" : measure.batch(),
                    measure.held(),
                    measure.times().size(),
                    milliseconds(measure.percentile(50)),
                    milliseconds(measure.percentile(99)),
                    milliseconds(measure.longest()),
                    measure.isWithinLimit() ? "" : "  over the kubelet's " + measure.limit());
        }
    }

    private static String milliseconds(Duration time) {
        return String.format(Locale.ROOT, "%.2f ms", time.toNanos() / 1e6);
    }

    private static String json(Settings settings, List<Measure> measures) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("driver", settings.driver().name());
        ArrayNode all = root.putArray("measures");
        for (Measure measure : measures) {
            all.addObject()
                    .put("what", measure.what())
                    .put("claims", measure.batch())
                    .put("held", measure.held())
                    .put("times", measure.times().size())
                    .put("p50Ms", measure.percentile(50).toNanos() / 1e6)
                    .put("p99Ms", measure.percentile(99).toNanos() / 1e6)
                    .put("longestMs", measure.longest().toNanos() / 1e6)
                    .put("withinLimit", measure.isWithinLimit());
        }
        return root.toPrettyString() + "\n";
    }
}
