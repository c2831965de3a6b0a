// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.test.RecordingClaimContext;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page on the cost of each answer of NVML: each function that the driver calls is injected with
 * each code, and the page has what was observed.
 */
@Tag("nightly")
class NvmlAnswersPageTest {

    private static final Path PAGE = Path.of("../docs-site/reference/nvml-answers.md");

    private static final Pattern FUNCTION = Pattern.compile("\"(nvml[A-Z]\\w+)\"");

    /** A field of a struct, and a function that returns a text. */
    private static final Set<String> WITHOUT_CODE = Set.of("nvmlReturn", "nvmlErrorString");

    @TempDir
    private static Path folder;

    /** Returns the page with its own text before the tables. */
    private static String page() throws IOException {
        StringBuilder page = new StringBuilder(Files.readString(PAGE).split("(?m)^## In ", 2)[0]);
        Answers answers = new Answers(folder);
        Set<String> ofReading = new HashSet<>();
        for (Answers.Use use : Answers.Use.values()) {
            page.append(table(answers, use, ofReading));
            answers.endSessions();
        }
        return page.toString().stripTrailing() + "\n";
    }

    private static String table(Answers answers, Answers.Use use, Set<String> ofReading) {
        Set<String> codes = Answers.CODES.keySet();
        StringBuilder table = new StringBuilder();
        table.append("## In ").append(use.title).append("\n\n| function | ");
        table.append(String.join(" | ", codes)).append(" |\n|");
        table.append("---|".repeat(codes.size() + 1)).append('\n');
        for (String function : StandInNode.functions()) {
            if (use == Answers.Use.UNPRIVILEGED && ofReading.contains(function)) {
                continue;
            }
            List<String> costs = answers.costs(use, function);
            if (!costs.isEmpty()) {
                String cells = String.join(" | ", costs);
                table.append("| `%s` | %s |%n".formatted(function, cells));
                if (use == Answers.Use.READING) {
                    ofReading.add(function);
                }
            }
        }
        return table.append('\n').toString();
    }

    private static Set<String> called() throws IOException {
        Set<String> called = new TreeSet<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source : sources.filter(Files::isRegularFile).toList()) {
                Matcher names = FUNCTION.matcher(Files.readString(source));
                while (names.find()) {
                    called.add(names.group(1));
                }
            }
        }
        called.removeAll(WITHOUT_CODE);
        return called;
    }

    @Test
    void hasWhatWasObservedForEachFunctionThatTheDriverCalls() throws Exception {
        String page = page();
        assertThat(page.lines().filter(line -> line.contains(Answers.WRONG + ":")))
                .isEmpty();
        new ReferenceFile(PAGE).assertIs(page);
        assertThat(called()).allSatisfy(function -> assertThat(page).contains("| `" + function));
    }

    /**
     * Observes the cost of each answer of NVML: one function fails on one GPU of eight, and all else has to be as
     * before.
     */
    private static final class Answers {

        /** The codes that are injected, by their names. */
        static final Map<String, Integer> CODES = new LinkedHashMap<>();

        static {
            List<String> names = List.of(
                    "NOT_SUPPORTED 3 UNKNOWN 999 GPU_IS_LOST 15 NO_PERMISSION 4 TIMEOUT 10 UNINITIALIZED 1 LIB_RM_VERSION_MISMATCH 18"
                            .split(" "));
            for (int i = 0; i < names.size(); i += 2) {
                CODES.put(names.get(i), Integer.valueOf(names.get(i + 1)));
            }
        }

        private static final Pattern OF_NO_GPU = Pattern.compile(
                "nvml(Init|Shutdown|System|EventSet|GpmSample(Alloc|Free)|GpmMetrics).*|nvmlDeviceGetCount_v2");

        /** Functions that only a driver without the newer one has to answer. */
        private static final Map<String, String> NEWER = Map.of(
                "nvmlInit_v2", "nvmlInitWithFlags",
                "nvmlDeviceGetRetiredPagesPendingStatus", "nvmlDeviceGetRemappedRows",
                "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2",
                "nvmlDeviceGetGpuInstanceProfileInfo", "nvmlDeviceGetGpuInstanceProfileInfoV",
                "nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetGpuFabricInfoV");

        /** Costs that are what NVML reports, and no failure: they replace what was known. */
        private static final Set<String> NOT_KEPT = Set.of("absent", "renamed");

        /** The word for something else that is not as before. */
        static final String WRONG = "wrong";

        private static final String NOT_CALLED = "not called";
        private static final int FUNCTION_NOT_FOUND = 13;
        private static final int MANY = 1_000_000; // calls

        /** The GPU whose calls fail, when the node is read. It is divided. */
        private static final int DIVIDED = 2;

        /** The same for claims. It is not in MIG mode. */
        private static final int WHOLE = 5;

        /** Memory in use, its size, and the utilization. */
        private static final int MEASURED_OF_MIG = 3;

        private static final int SMALL = 19;
        private static final int LARGE = 9;
        private static final int COMPUTE_OF_ONE = 0;
        private static final int COMPUTE_OF_THREE = 2;
        private static final String DEVICE = "gpu-" + WHOLE + "-mig-3g40gb-9-4";

        private final StandInNode node;
        private final NodeState state;
        private final Map<Use, Reader> readers = new EnumMap<>(Use.class);

        Answers(Path folder) {
            node = StandInNode.install(folder, "h100-linked");
            state = node.state();
            state.setMig(DIVIDED, true);
            node.administrator().createInstance(DIVIDED, SMALL, 1, COMPUTE_OF_ONE);
            node.administrator().createInstance(DIVIDED, LARGE, 4, COMPUTE_OF_THREE);
        }

        /** A use of NVML. */
        enum Use {
            READING("the reading of a node"),
            UNPRIVILEGED("a reading without root, in addition"),
            PREPARE("the creation of a MIG device"),
            UNPREPARE("the destruction of a MIG device"),
            EVENTS("the subscription to events"),
            RECOVERY("the test of whether a GPU recovered"),
            MEASUREMENT("the measurement for thresholds"),
            METRICS("the measurement for metrics");

            final String title;

            Use(String title) {
                this.title = title;
            }
        }

        /** Returns the cost in a word, for each code; nothing if the use never calls the function. */
        List<String> costs(Use use, String function) {
            List<String> costs = new ArrayList<>();
            for (int code : CODES.values()) {
                state.privileged(use != Use.UNPRIVILEGED);
                try {
                    costs.add(cost(use, function, code));
                } catch (AssertionError | DraException e) { // all are reported together
                    costs.add("%s: %s".formatted(WRONG, e).replaceAll("\\s+", " "));
                } finally {
                    state.noneFails();
                    state.privileged(true);
                    clear();
                }
                if (costs.contains(NOT_CALLED)) {
                    return List.of();
                }
            }
            return costs;
        }

        /** One cell must not spoil the next. */
        private void clear() {
            for (NodeState.Instance instance : state.instances()) {
                if (instance.gpu() == WHOLE) {
                    node.administrator().destroyInstance(WHOLE, instance.id());
                }
            }
            state.setMig(WHOLE, false);
        }

        private String cost(Use use, String function, int code) {
            return switch (use) {
                case READING, UNPRIVILEGED -> ofReading(use, function, code);
                case PREPARE -> ofClaim(function, code, true);
                case UNPREPARE -> ofClaim(function, code, false);
                case EVENTS -> observed(function, code, "watch-retries", this::ofEvents);
                case RECOVERY -> observed(function, code, "watch-retries", this::ofRecovery);
                case MEASUREMENT -> observed(function, code, "watch-retries", this::ofMeasurement);
                case METRICS -> ofMetrics(function, code);
            };
        }

        /** Lets a function fail on a GPU, or in all calls if it is of none. */
        private void inject(String function, int gpu, int code) {
            boolean isOfNone = OF_NO_GPU.matcher(function).matches();
            state.fails(function, isOfNone ? NodeState.ALL : gpu, code, MANY);
            String newer = NEWER.get(function);
            if (newer != null) {
                state.fails(newer, FUNCTION_NOT_FOUND);
            }
        }

        private Nvml nvml() {
            return new Nvml(Installation.of(node.library()), InstantSource.system());
        }

        private NodeDevices devices(Reading reading, boolean dynamic) {
            return NodeDevices.of(reading, new NodeDevices.Settings("node-1", node.sysfs(), dynamic));
        }

        /** A reading of a node, and the node as last read. */
        private final class Reader {
            private final Nvml known = nvml();
            private Reading all;

            Reader() {
                known.keep();
                all = known.read();
            }

            String cost(String function, int code) {
                inject(function, DIVIDED, code);
                String cost;
                try (Nvml nvml = nvml()) {
                    Reading some = nvml.read();
                    cost = both(dynamic -> first(devices(all, dynamic), devices(some, dynamic), function));
                } catch (NvmlException e) {
                    cost = thrown(e, function);
                }
                return state.hasFailed(MANY) ? later(cost, function, code) : NOT_CALLED;
            }

            /** The cost if the node was read before: what was known stays. */
            private String later(String first, String function, int code) {
                if (function.startsWith("nvmlInit")) {
                    return first; // there is a session already
                }
                try {
                    Reading some = known.read();
                    boolean isLost = some.lost().contains(state.uuid(DIVIDED));
                    boolean isUnread = some.unread().contains(state.uuid(DIVIDED));
                    assertThat(isLost || isUnread).isIn(false, first.equals("gpu"));
                    if (NOT_KEPT.stream().noneMatch(first::contains)) {
                        both(dynamic -> kept(devices(all, dynamic), devices(some, dynamic)));
                    }
                    return isLost ? "gpu-lost" : first.equals("gpu") ? "gpu-unread" : first;
                } catch (NvmlException e) {
                    assertThat(thrown(e, function)).isEqualTo(first);
                    return first;
                } finally {
                    state.noneFails();
                    assertThat(known.read()).isEqualTo(all);
                }
            }

            private String kept(NodeDevices before, NodeDevices after) {
                assertThat(after.inventory().pools())
                        .isEqualTo(before.inventory().pools());
                return "";
            }
        }

        private static String both(Function<Boolean, String> costByDynamic) {
            String fixed = costByDynamic.apply(false);
            String dynamic = costByDynamic.apply(true);
            return fixed.equals(dynamic) ? fixed : fixed + ", dynamic " + dynamic;
        }

        private String ofReading(Use use, String function, int code) {
            return readers.computeIfAbsent(use, key -> new Reader()).cost(function, code);
        }

        private static String thrown(DraException e, String function) {
            assertThat(e).hasMessageContaining(function);
            return e instanceof NvmlException nvml && nvml.reason() == Reason.SESSION_ENDED ? "session" : "node";
        }

        private static Map<String, Device> devices(NodeDevices devices, boolean ofTheGpu) {
            Map<String, Device> found = new TreeMap<>();
            for (Device device : devices.inventory().pools().get(0).devices()) {
                String name = device.name().value();
                if (name.matches("gpu-" + DIVIDED + "(-.*)?") == ofTheGpu) {
                    found.put(name, device);
                }
            }
            return found;
        }

        /** The cost if nothing was known before. */
        private String first(NodeDevices all, NodeDevices some, String function) {
            if (!OF_NO_GPU.matcher(function).matches()) {
                assertThat(devices(some, false)).isEqualTo(devices(all, false));
            }
            Map<String, Device> before = devices(all, true);
            Map<String, Device> after = devices(some, true);
            String reasons = some.inventory().leftOut() + " " + some.notes();
            if (some.inventory().leftOut().stream().map(LeftOut::device).anyMatch(this::isTheGpu)) {
                return named("gpu", reasons, function);
            }
            if (after.equals(before)) {
                boolean isSame =
                        some.inventory().leftOut().equals(all.inventory().leftOut());
                return isSame ? "none" : named("listing", reasons, function);
            }
            if (after.keySet().equals(before.keySet())) {
                String isNoted = some.notes().isEmpty() ? "absent" : "attribute";
                return isNoted.equals("absent") ? isNoted : named(isNoted, reasons, function);
            }
            if (before.keySet().containsAll(after.keySet())) {
                return named("mig-devices", reasons, function);
            }
            return "renamed";
        }

        private boolean isTheGpu(String device) {
            return device.equals(state.uuid(DIVIDED)) || device.equals("GPU " + DIVIDED);
        }

        private static String named(String cost, String reasons, String function) {
            assertThat(reasons).containsAnyOf(function + ":", "only to root");
            return cost;
        }

        private OnDemand requested(Nvml nvml) {
            return (OnDemand)
                    devices(nvml.read(), true).offer(new DeviceName(DEVICE)).orElseThrow();
        }

        private static ClaimRecorder recorded(RecordingClaimContext journal) {
            return new ClaimRecorder(ClaimState.read(journal.lastCheckpoint().orElse(null)), journal);
        }

        private String ofClaim(String function, int code, boolean isPrepare) {
            RecordingClaimContext journal = new RecordingClaimContext();
            String cost = "none";
            try (Nvml nvml = Nvml.open(node.library())) {
                MigDeviceAllocator allocator = new MigDeviceAllocator(
                        nvml, new GpuFiles(node.folder().resolve("mig-modes"), nvml::moduleLoad), gpu -> true);
                OnDemand requested = requested(nvml);
                if (!isPrepare) {
                    allocator.create(Map.of(DEVICE, requested), List::of, recorded(journal));
                }
                inject(function, WHOLE, code);
                try {
                    if (isPrepare) {
                        allocator.create(Map.of(DEVICE, requested), List::of, recorded(journal));
                    } else {
                        allocator.destroy(Set.of(), List::of, recorded(journal));
                    }
                } catch (DraException e) {
                    assertThat(e).hasMessageContaining("nvml");
                    cost = isPrepare ? "prepare-fails" : "unprepare-fails";
                }
                if (!state.hasFailed(MANY)) {
                    cost = NOT_CALLED;
                }
                state.noneFails();
                allocator.destroy(Set.of(), List::of, recorded(journal));
                if (state.isMigEnabled(WHOLE)) {
                    assertThat(cost).isEqualTo("none");
                    cost = "mode-stays";
                    allocator.requireWhole(requested.gpu(), Instant.MAX);
                }
            }
            assertNothingIsLeft();
            return cost;
        }

        private void assertNothingIsLeft() {
            assertThat(state.instances()).noneMatch(instance -> instance.gpu() == WHOLE);
            assertThat(state.isMigEnabled(WHOLE)).isFalse();
        }

        /** The cost that a use finds in a new session, or its word for a failure. */
        private String observed(String function, int code, String failed, Function<Nvml, String> use) {
            String cost;
            try (Nvml nvml = nvml()) {
                inject(function, WHOLE, code);
                cost = use.apply(nvml);
            } catch (NvmlException e) {
                assertThat(e).hasMessageContaining(function);
                cost = failed;
            }
            return state.hasFailed(MANY) ? cost : NOT_CALLED;
        }

        private String ofEvents(Nvml nvml) {
            try (NvmlEvents events = nvml.subscribe(Set.of(state.uuid(WHOLE), state.uuid(0)))) {
                events.await(Duration.ofMillis(1));
                assertThat(events.unmonitored()).doesNotContain(state.uuid(0));
                return events.unmonitored().isEmpty() ? "none" : "unmonitored";
            }
        }

        private String ofRecovery(Nvml nvml) {
            String cost = nvml.needsRecovery(state.uuid(WHOLE)).isPresent() ? "none" : "unknown";
            assertThat(nvml.isRepairPending(state.uuid(WHOLE))).isFalse();
            return cost;
        }

        private String ofMeasurement(Nvml nvml) {
            boolean hasBoth = Stream.of(DeviceMeasure.TEMPERATURE, DeviceMeasure.POWER)
                    .allMatch(
                            measure -> nvml.measure(state.uuid(WHOLE), measure).isPresent());
            return hasBoth ? "none" : "no-threshold";
        }

        private String ofMetrics(String function, int code) {
            Set<DeviceMeasure> all;
            try (Nvml nvml = nvml()) {
                all = measured(nvml);
            }
            return observed(function, code, "unmeasured", nvml -> {
                inject(function, DIVIDED, code);
                return measured(nvml).equals(all) ? "none" : "no-value";
            });
        }

        /** Measures in one session a GPU, and a MIG device twice, as GPM needs it. */
        private Set<DeviceMeasure> measured(Nvml nvml) {
            nvml.keep(); // until it is closed
            Set<DeviceMeasure> values =
                    new TreeSet<>(nvml.measure(state.uuid(WHOLE)).keySet());
            String mig = state.instanceAt(DIVIDED, 4).uuids().get(0);
            nvml.measureMig(state.uuid(DIVIDED), mig);
            int alone = nvml.measureMig(state.uuid(DIVIDED), mig).size();
            return alone == MEASURED_OF_MIG ? values : Set.of();
        }

        /** Ends all sessions. */
        void endSessions() {
            readers.values().forEach(reader -> reader.known.close());
            readers.clear();
        }
    }
}
