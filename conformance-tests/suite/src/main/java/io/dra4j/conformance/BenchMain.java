// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.load.DriverNumbers;
import io.dra4j.conformance.load.Footprint;
import io.dra4j.conformance.load.LoadPlan;
import io.dra4j.conformance.load.LoadRun;
import io.dra4j.conformance.load.LongRun;
import io.dra4j.conformance.load.NodesNumbers;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import io.dra4j.conformance.load.NodesPlan;
import io.dra4j.conformance.load.NodesRun;
import io.dra4j.conformance.load.Timings;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bench}: the time and the resources that a driver needs. */
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
            "Each claim has its own device. With fewer than 32 devices, calls have as many claims as there are devices; measurements that hold more claims than there are devices are left out.",
            ""
        },
        footer = {
            "",
            TestedDriverOptions.PLACES,
            "Exit status: 0, or 1 if a call failed or took longer than the kubelet allows, with --calls if the memory grew or the driver restarted, or with --nodes if a limit was exceeded; 3 if the suite or the driver could not be run."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BenchMain implements Callable<Integer> {

    private static final int GROWTH_LIMIT = 8;
    private static final int DEVICES = 8;
    private static final Set<String> WITH_NODES = Set.of("--nodes", "--devices", "--idle-seconds", "--json");
    private static final long MIB = 1 << 20;

    @Mixin
    private TestedDriverOptions options;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "100")
    private int rounds;

    @Option(names = "--first-calls", paramLabel = "N", defaultValue = "100")
    private int firstCalls;

    @Option(names = "--starts", paramLabel = "N", defaultValue = "3")
    private int starts;

    @Option(names = "--idle-seconds", paramLabel = "SECONDS", defaultValue = "15")
    private int idleSeconds;

    @Option(names = "--against", paramLabel = "FILE")
    private @Nullable Path against;

    @Option(names = "--calls", paramLabel = "N")
    private @Nullable Integer calls;

    @Option(names = "--growth-limit", paramLabel = "MIB")
    private @Nullable Integer growthLimit;

    @Option(names = "--nodes", paramLabel = "N")
    private @Nullable Integer nodes;

    @Option(names = "--devices", paramLabel = "N")
    private @Nullable Integer devices;

    @Option(names = "--json", paramLabel = "FILE")
    private @Nullable Path json;

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
        require(rounds >= 1, "--rounds must be at least 1");
        require(starts >= 1, "--starts must be at least 1");
        require(firstCalls >= 0 && idleSeconds >= 0, "--first-calls and --idle-seconds must not be negative");
        require(calls == null || calls >= LongRun.PARTS, "--calls must be at least " + LongRun.PARTS);
        require(calls == null || against == null, "--calls measures one driver, and cannot be combined with --against");
        require(calls != null || growthLimit == null, "--growth-limit requires --calls");
        require(nodes != null || devices == null, "--devices requires --nodes");
        require(json == null || isWritable(json), "--json: cannot write " + json);
        if (nodes != null) {
            requireUsable(nodes);
        }
    }

    private void requireUsable(int hosted) {
        require(hosted >= 2, "--nodes must be at least 2: the others are measured against the first");
        require(devices == null || devices >= 1, "--devices must be at least 1");
        require(idleSeconds >= 1, "--idle-seconds must be at least 1 with --nodes");
        String others = spec.commandLine().getParseResult().matchedArgs().stream()
                .map(TestedDriverOptions::name)
                .filter(name -> !WITH_NODES.contains(name))
                .collect(Collectors.joining(", "));
        require(others.isEmpty(), "--nodes hosts its own drivers, and cannot be combined with " + others);
    }

    private static boolean isWritable(Path file) {
        boolean isThere = Files.exists(file);
        Path place = isThere ? file : file.toAbsolutePath().resolveSibling("");
        return Files.isWritable(place) && Files.isDirectory(place) != isThere;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new SettingsException(otherwise);
        }
    }

    private int measure() throws IOException {
        List<Settings> drivers = new ArrayList<>(List.of(TestedDriverOptions.settings(spec)));
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
        return numbers.stream().flatMap(one -> one.calls().stream()).allMatch(Timings::isWithinLimit) ? 0 : 1;
    }

    private int repeat(int number) throws IOException {
        BenchTable table = new BenchTable(spec.commandLine().getOut(), Duration.ZERO);
        table.partsBegin();
        List<LongRun.Part> parts = new LongRun(TestedDriverOptions.settings(spec), number, this::say).run(table::part);
        long growth = LongRun.growthBytes(parts);
        int limit = growthLimit == null ? GROWTH_LIMIT : growthLimit;
        boolean grew = growth > limit * MIB;
        say(
                "The peak resident memory of the second half differs by %+.1f MiB from that of the first; the limit is %d MiB%s."
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

    /** The numbers of {@code bench --nodes} as text, in at most 100 columns. */
    private record NodesTable(PrintWriter out) {

        private static final String FACT = "%-34s %s";
        private static final String ROW = "%-34s %14s %14s %14s";
        private static final double MIB = 1 << 20;
        private static final double KIB = 1 << 10;

        void print(NodesNumbers numbers) {
            int nodes = numbers.plan().nodes();
            out.println();
            line(FACT, "drivers, one per node", nodes);
            line(FACT, "devices each", numbers.plan().devices());
            line(FACT, "registered with the kubelet", numbers.registered());
            line(FACT, "slices published", numbers.slices());
            line(
                    FACT,
                    "time until the last " + (nodes - 1) + " published",
                    String.format(Locale.ROOT, "%.1f s", numbers.publishing().toMillis() / 1000.0));
            requests(numbers);
            memory(numbers);
            idle(numbers);
            traffic("API server, per idle node and hour", numbers.perHour(0));
            traffic(
                    "the same with %d prepares".formatted(NodesNumbers.BUSY_PREPARES),
                    numbers.perHour(NodesNumbers.BUSY_PREPARES));
            line(FACT, "connections per node", String.format(Locale.ROOT, "%.2f", numbers.each(numbers.connections())));
            out.println();
            out.flush();
        }

        private void traffic(String when, Map<String, Traffic> rates) {
            line(ROW, when, "requests", "KiB sent to it", "KiB from it");
            rates.forEach((kind, rate) -> line(
                    ROW,
                    kind,
                    String.format(Locale.ROOT, "%.1f", rate.requests()),
                    String.format(Locale.ROOT, "%.1f", rate.received() / KIB),
                    String.format(Locale.ROOT, "%.1f", rate.sent() / KIB)));
            out.println();
        }

        private void requests(NodesNumbers numbers) {
            out.println();
            line(ROW, "API requests until then", "all", "a driver", "");
            numbers.requests().forEach((kind, count) -> requests(numbers, kind, count));
            requests(numbers, "in all", numbers.allRequests());
        }

        private void requests(NodesNumbers numbers, String kind, long count) {
            line(ROW, kind, count, String.format(Locale.ROOT, "%.2f", numbers.each(count)), "");
        }

        private void memory(NodesNumbers numbers) {
            Footprint one = numbers.one().footprint();
            Footprint all = numbers.all().footprint();
            out.println();
            line(ROW, "memory and threads at rest", "one driver", "all drivers", "each adds");
            bytes(numbers, "resident", one.residentBytes(), all.residentBytes());
            bytes(numbers, "anonymous", one.anonymousBytes(), all.anonymousBytes());
            bytes(
                    numbers,
                    "heap after a collection",
                    numbers.one().heapBytes(),
                    numbers.all().heapBytes());
            double added = numbers.added(one.threads(), all.threads());
            line(ROW, "threads", one.threads(), all.threads(), String.format(Locale.ROOT, "%.2f", added));
        }

        private void bytes(NodesNumbers numbers, String what, long one, long all) {
            line(
                    ROW,
                    what,
                    String.format(Locale.ROOT, "%.1f MiB", one / MIB),
                    String.format(Locale.ROOT, "%.1f MiB", all / MIB),
                    String.format(Locale.ROOT, "%.1f KiB", numbers.added(one, all) / KIB));
        }

        private void idle(NodesNumbers numbers) {
            Idle idle = numbers.idle();
            long all =
                    idle.requests().values().stream().mapToLong(Long::longValue).sum();
            long needless =
                    idle.needless().values().stream().mapToLong(Long::longValue).sum();
            out.println();
            line(ROW, "idle for %d s".formatted(idle.lasted().toSeconds()), "all", "a driver", "");
            requests(numbers, "watches restarted", all - needless);
            requests(numbers, "other API requests", needless);
            line(
                    ROW,
                    "processor, of one core",
                    String.format(Locale.ROOT, "%.2f %%", idle.cpuPercent()),
                    String.format(Locale.ROOT, "%.4f %%", numbers.each(idle.cpuPercent())),
                    "");
            out.println();
        }

        private void line(String format, Object... cells) {
            out.println(String.format(Locale.ROOT, format, cells).stripTrailing());
        }
    }

    /** The numbers of {@code bench} as JSON; a field with a unit has it in its name. */
    private static final class BenchJson {

        private BenchJson() {}

        /** The numbers of one driver, and in {@code against} those of the other, if there is one. */
        static String of(List<DriverNumbers> numbers, LoadPlan plan) {
            ObjectNode root = driver(numbers.get(0), plan);
            if (numbers.size() > 1) {
                root.set("against", driver(numbers.get(1), plan));
            }
            return root.toPrettyString() + "\n";
        }

        private static ObjectNode driver(DriverNumbers numbers, LoadPlan plan) {
            ObjectNode root = new ObjectMapper().createObjectNode();
            root.put("driver", numbers.driver());
            numbers.idle()
                    .ifPresent(idle -> put(
                            root.putObject("idle")
                                    .put("afterStartSeconds", plan.idle().toSeconds()),
                            idle));
            numbers.loaded()
                    .ifPresent(loaded -> put(root.putObject("afterLoad").put("held", numbers.heldAtLast()), loaded));
            ArrayNode floors = root.putArray("floors");
            numbers.floors().forEach(floor -> put(floors.addObject(), floor));
            ArrayNode all = root.putArray("measures");
            for (Timings measure : numbers.measures()) {
                ObjectNode one = all.addObject();
                put(one, measure);
                ratio(one, "p50ToOneClaim", numbers.toOneClaim(measure));
                ratio(one, "p50ToNoneHeld", numbers.toNoneHeld(measure));
                ratio(one, "p50ToFloor", numbers.toFloor(measure));
            }
            return root;
        }

        static String of(NodesNumbers numbers) {
            ObjectNode root = new ObjectMapper().createObjectNode();
            root.put("nodes", numbers.plan().nodes())
                    .put("devicesEach", numbers.plan().devices());
            root.put("registered", numbers.registered());
            root.put("slices", numbers.slices())
                    .put("complete", numbers.incomplete().isEmpty());
            root.put("publishingMs", milliseconds(numbers.publishing()));
            put(root.putObject("requests"), numbers.requests());
            root.put("allRequests", numbers.allRequests());
            root.put("requestsEach", numbers.each(numbers.allRequests()));
            put(root.putObject("withOneDriver"), numbers.one());
            put(root.putObject("withAllDrivers"), numbers.all());
            Footprint one = numbers.one().footprint();
            Footprint all = numbers.all().footprint();
            root.putObject("eachAdds")
                    .put("residentBytes", numbers.added(one.residentBytes(), all.residentBytes()))
                    .put("anonymousBytes", numbers.added(one.anonymousBytes(), all.anonymousBytes()))
                    .put(
                            "heapBytes",
                            numbers.added(
                                    numbers.one().heapBytes(), numbers.all().heapBytes()))
                    .put("threads", numbers.added(one.threads(), all.threads()));
            NodesNumbers.Idle idle = numbers.idle();
            ObjectNode rest = root.putObject("idle").put("lastedMs", milliseconds(idle.lasted()));
            put(rest.putObject("requests"), idle.requests());
            rest.put("cpuPercent", idle.cpuPercent());
            rest.put("cpuPercentEach", numbers.each(idle.cpuPercent()));
            root.put("connectionsEach", numbers.each(numbers.connections()));
            ObjectNode hour = root.putObject("perNodeAndHour");
            rates(hour.putObject("idle"), numbers.perHour(0));
            rates(
                    hour.put("busyPrepares", NodesNumbers.BUSY_PREPARES).putObject("busy"),
                    numbers.perHour(NodesNumbers.BUSY_PREPARES));
            return root.toPrettyString() + "\n";
        }

        private static void rates(ObjectNode into, Map<String, Traffic> rates) {
            rates.forEach((kind, rate) -> into.putObject(kind)
                    .put("requests", rate.requests())
                    .put("receivedBytes", rate.received())
                    .put("sentBytes", rate.sent()));
        }

        private static void put(ObjectNode into, Map<String, Long> counts) {
            counts.forEach(into::put);
        }

        private static void put(ObjectNode into, NodesNumbers.Host host) {
            put(into, host.footprint());
            into.put("heapBytes", host.heapBytes());
        }

        private static void put(ObjectNode into, Footprint footprint) {
            into.put("residentBytes", footprint.residentBytes())
                    .put("anonymousBytes", footprint.anonymousBytes())
                    .put("threads", footprint.threads())
                    .put("processes", footprint.processes());
        }

        private static void put(ObjectNode into, Timings measure) {
            into.put("what", measure.what())
                    .put("claims", measure.batch())
                    .put("held", measure.held())
                    .put("times", measure.times().size())
                    .put("p50Ms", milliseconds(measure.percentile(50)))
                    .put("p95Ms", milliseconds(measure.percentile(95)))
                    .put("p99Ms", milliseconds(measure.percentile(99)))
                    .put("longestMs", milliseconds(measure.longest()))
                    .put("withinLimit", measure.isWithinLimit());
        }

        private static double milliseconds(Duration time) {
            return time.toNanos() / 1e6;
        }

        private static void ratio(ObjectNode into, String name, OptionalDouble ratio) {
            ratio.ifPresent(value -> into.put(name, Math.round(value * 1000) / 1000.0));
        }

        static String of(List<LongRun.Part> parts, long growthBytes) {
            ObjectNode root = new ObjectMapper().createObjectNode();
            root.put("growthBytes", growthBytes);
            ArrayNode all = root.putArray("parts");
            for (LongRun.Part part : parts) {
                ObjectNode one = all.addObject();
                one.put("calls", part.calls());
                put(one, part.footprint());
                one.put("prepareP50Ms", milliseconds(part.prepares().percentile(50)));
                one.put("prepareP99Ms", milliseconds(part.prepares().percentile(99)));
            }
            return root.toPrettyString() + "\n";
        }
    }
}
