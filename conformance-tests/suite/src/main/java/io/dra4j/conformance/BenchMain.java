// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.load.DriverNumbers;
import io.dra4j.conformance.load.LoadPlan;
import io.dra4j.conformance.load.LoadRun;
import io.dra4j.conformance.load.LongRun;
import io.dra4j.conformance.load.Measure;
import io.dra4j.conformance.load.NodesNumbers;
import io.dra4j.conformance.load.NodesPlan;
import io.dra4j.conformance.load.NodesRun;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bench}: how long a driver takes, and how much it needs. */
@Command(
        name = "bench",
        resourceBundle = "io.dra4j.conformance.options",
        customSynopsis = {
            "dra-conformance bench [OPTION]... --driver-name=NAME -- COMMAND...",
            "       dra-conformance bench [OPTION]... --config=FILE [--against=FILE]",
            "       dra-conformance bench --calls=N [OPTION]... --config=FILE",
            "       dra-conformance bench --nodes=N [--devices=N] [--idle-seconds=SECONDS] [--json=FILE]"
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Measure a driver: start, memory, threads, publishing, and prepare and unprepare of 1, 8 and 32 claims in a call, with 0, 200 and 1000 claims held. Floors are measured between the calls: an empty call, an fsync, and a GET of a claim.",
            "Each claim has a device of its own. With fewer devices than 32, calls have as many claims as there are devices; with fewer than are to be held besides, that is left out.",
            ""
        },
        footer = {
            "",
            DriverOptions.PLACES,
            "Exit status: 0, or 1 if a call failed or took longer than the kubelet allows, with --calls the memory grew or the driver restarted, or with --nodes a limit was exceeded; 3 if the suite or the driver could not be run."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BenchMain implements Callable<Integer> {

    private static final int GROWTH_LIMIT = 8;
    private static final int DEVICES = 8;
    private static final Set<String> WITH_NODES = Set.of("--nodes", "--devices", "--idle-seconds", "--json");
    private static final long MIB = 1 << 20;

    @Mixin
    private DriverOptions options;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "100")
    private int rounds;

    @Option(names = "--first-calls", paramLabel = "N", defaultValue = "100")
    private int firstCalls;

    @Option(names = "--starts", paramLabel = "N", defaultValue = "3")
    private int starts;

    @Option(names = "--idle-seconds", paramLabel = "SECONDS", defaultValue = "15")
    private int idleSeconds;

    @Option(names = "--against", paramLabel = "FILE")
    @Nullable
    Path against;

    @Option(names = "--calls", paramLabel = "N")
    @Nullable
    Integer calls;

    @Option(names = "--growth-limit", paramLabel = "MIB")
    @Nullable
    Integer growthLimit;

    @Option(names = "--nodes", paramLabel = "N")
    @Nullable
    Integer nodes;

    @Option(names = "--devices", paramLabel = "N")
    @Nullable
    Integer devices;

    @Option(names = "--json", paramLabel = "FILE")
    @Nullable
    Path json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        requireUsable();
        try {
            if (nodes != null) {
                return host(nodes);
            }
            return calls == null ? measure() : repeat(calls);
        } catch (Violation e) {
            spec.commandLine().getErr().println("dra-conformance: " + e.getMessage());
            return 1;
        }
    }

    private void requireUsable() {
        require(rounds >= 1, "--rounds is at least 1");
        require(starts >= 1, "--starts is at least 1");
        require(firstCalls >= 0 && idleSeconds >= 0, "--first-calls and --idle-seconds count from 0");
        require(calls == null || calls >= LongRun.PARTS, "--calls is at least " + LongRun.PARTS);
        require(calls == null || against == null, "--calls measures one driver, not one --against");
        require(calls != null || growthLimit == null, "--growth-limit is for --calls");
        require(nodes != null || devices == null, "--devices is for --nodes");
        if (nodes != null) {
            requireUsable(nodes);
        }
    }

    private void requireUsable(int hosted) {
        require(hosted >= 2, "--nodes is at least 2: drivers are measured against one");
        require(devices == null || devices >= 1, "--devices is at least 1");
        require(idleSeconds >= 1, "--idle-seconds is at least 1 with --nodes");
        String others = spec.commandLine().getParseResult().matchedArgs().stream()
                .map(DriverOptions::name)
                .filter(name -> !WITH_NODES.contains(name))
                .collect(Collectors.joining(", "));
        require(others.isEmpty(), "--nodes hosts drivers of its own, and measures one thing: it can't have " + others);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new SettingsException(otherwise);
        }
    }

    private int measure() throws IOException {
        List<Settings> drivers = new ArrayList<>(List.of(DriverOptions.settings(spec)));
        List<String> names = new ArrayList<>(List.of(drivers.get(0).driver().name()));
        Path other = against;
        if (other != null) {
            Settings settings = SettingsReader.read(other, Map.of()).on(drivers.get(0));
            drivers.add(settings);
            names.add(settings.driver().name() + " of " + other);
        }
        LoadPlan plan = new LoadPlan(starts, Duration.ofSeconds(idleSeconds), firstCalls, rounds);
        List<DriverNumbers> numbers = new LoadRun(drivers, plan, this::say).run();
        PrintWriter out = spec.commandLine().getOut();
        BenchTable table = new BenchTable(out, plan.idle());
        if (numbers.size() == 1) {
            table.print(numbers.get(0));
        } else {
            table.compare(names, numbers.get(0), numbers.get(1));
        }
        write(BenchJson.of(numbers, plan));
        return numbers.stream().flatMap(one -> one.calls().stream()).allMatch(Measure::isWithinLimit) ? 0 : 1;
    }

    private int repeat(int number) throws IOException {
        BenchTable table = new BenchTable(spec.commandLine().getOut(), Duration.ZERO);
        table.partsBegin();
        List<LongRun.Part> parts = new LongRun(DriverOptions.settings(spec), number, this::say).run(table::part);
        long growth = LongRun.growthBytes(parts);
        int limit = growthLimit == null ? GROWTH_LIMIT : growthLimit;
        boolean grew = growth > limit * MIB;
        say("The most resident memory of the second half is %+.1f MiB from that of the first; the limit is %d MiB%s."
                .formatted((double) growth / MIB, limit, grew ? ", which it exceeds" : ""));
        write(BenchJson.of(parts, growth));
        return grew ? 1 : 0;
    }

    private int host(int number) throws IOException {
        NodesPlan plan = new NodesPlan(number, devices == null ? DEVICES : devices, Duration.ofSeconds(idleSeconds));
        NodesNumbers numbers = new NodesRun(plan, this::say).run();
        new NodesTable(spec.commandLine().getOut()).print(numbers);
        numbers.complaints().forEach(this::say);
        write(BenchJson.of(numbers));
        return numbers.complaints().isEmpty() ? 0 : 1;
    }

    private void say(String remark) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(remark);
        out.flush();
    }

    private void write(String numbers) throws IOException {
        Path file = json;
        if (file != null) {
            Files.writeString(file, numbers);
            say("Numbers: " + file);
        }
    }
}
