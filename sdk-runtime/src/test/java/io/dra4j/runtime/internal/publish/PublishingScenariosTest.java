// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest;
import io.dra4j.testkit.Scenarios;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A publisher and its cluster, minute by minute, as publishing-scenarios.txt says. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a publisher that plans again and again hangs
class PublishingScenariosTest extends PublisherUnderTest implements ScenarioSteps {

    private static final Taint TAINT = Taint.of("k/unhealthy", null, Taint.Effect.NO_SCHEDULE);

    @TempDir
    Path data;

    private Map<String, Integer> marked = Map.of();
    private Map<String, Stored> remembered = Map.of();
    private final Map<String, Device> defined = new HashMap<>();
    private List<LeftOut> leftOut = List.of();
    private boolean isTainting;
    private boolean isPinned;

    @BeforeEach
    void startTainting() {
        taints = given -> Inventory.of(given.pools().stream().map(this::tainted).toArray(Pool[]::new))
                .withLeftOut(given.leftOut());
        storedTaints = this::tainted;
        marked = numbers();
    }

    private Pool tainted(Pool pool) {
        List<Device> devices = pool.devices().stream().map(this::tainted).toList();
        return isTainting ? pool.toBuilder().devices(devices).build() : pool;
    }

    private Device tainted(Device device) {
        List<Taint> others = device.taints().stream()
                .filter(taint -> !taint.key().equals(TAINT.key()))
                .toList();
        Device.Builder changed = device.toBuilder().taints(others);
        return isTainting ? changed.taint(TAINT).build() : changed.build();
    }

    @Scenarios("publishing-scenarios.txt")
    void theClusterGetsWhatItShould(String scenario) throws Exception {
        play(scenario);
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "start" -> {
                inventory = words.length == 1 ? inventory : inventory(words);
                names = isPinned ? names(data) : names;
                start();
            }
            case "begin" -> {
                publisher.start();
                loop.advance(NOW);
            }
            case "publish" -> {
                inventory = inventory(words);
                publisher.inventoryChanged();
                loop.advance(NOW);
            }
            case "inventory" -> inventory = inventory(words);
            case "changed" -> publisher.inventoryChanged();
            case "taint", "untaint" -> {
                isTainting = words[0].equals("taint");
                publisher.taintsChanged();
                loop.advance(NOW);
            }
            case "restart" -> {
                names = isPinned ? names(data) : names;
                restart();
            }
            case "close" -> publisher.close();
            case "hang" -> loop.hang();
            case "turn-ends-after-a-write" ->
                store.afterWrite = () -> {
                    lock.othersHaveIt = true;
                    store.failing("node-a", new CancellationException("another leads"));
                };
            case "turn-comes-back" -> {
                store.afterWrite = () -> {};
                store.failing("node-a", null);
                lock.othersHaveIt = false;
            }
            case "pinned" -> isPinned = true;
            case "removes-on-close" -> removesOnClose = true;
            case "others" -> lock.othersHaveIt = words[1].equals("lead");
            case "advance" -> loop.advance(duration(words[1]));
            case "mark" -> {
                store.writes.clear();
                marked = numbers();
            }
            default -> provider(words, text);
        }
    }

    private void provider(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "define" -> defined.put(words[1], ClaimDecoding.device(text));
            case "leave-out-many" ->
                leftOut = IntStream.range(0, Integer.parseInt(words[1]))
                        .mapToObj(i -> new LeftOut("GPU-" + i, "Line 1\nline 2\t" + "x".repeat(80)))
                        .toList();
            case "leave-out" -> leftOut = text.isEmpty() ? List.of() : List.of(new LeftOut(words[1], text));
            case "unreadable" ->
                unreadable = text.isEmpty() ? new UnsupportedOperationException() : new LinkageError(text);
            case "restart-unreadable" -> {
                unreadable = new LinkageError("the hardware fails");
                restart();
            }
            case "readable" -> unreadable = null;
            case "answers-null" -> answersNull = words[1].equals("yes");
            default -> cluster(words, text);
        }
    }

    private static Duration duration(String seconds) {
        return Duration.parse("PT" + seconds);
    }

    /** The pools after the first word, each with its kind or its number of devices. */
    private Inventory inventory(String... words) {
        return Inventory.of(Stream.of(words)
                        .skip(1)
                        .map(word -> pool(word.split("=")[0], word.split("=")[1]))
                        .toArray(Pool[]::new))
                .withLeftOut(leftOut);
    }

    /** A kind is a whole pool, or parts of one. */
    private Pool pool(String name, String kind) {
        if (kind.startsWith("all:")) {
            return pool(name, kind.substring(4)).toBuilder()
                    .placement(new Placement.AllNodes())
                    .build();
        }
        return switch (kind) {
            case "elsewhere" -> Pool.publishedElsewhere(name);
            case "tainted" -> Pool.ofNode(name, List.of(tainted("gpu-0", Taint.Effect.NO_EXECUTE)));
            case "invalid" ->
                Pool.ofNode(
                        name, List.of(Device.builder("gpu-0").rawField("x", "{").build()));
            case "typed" ->
                Pool.builder(name)
                        .partitionTypeAttribute("gpu.example.com/type")
                        .counterSet(
                                CounterSet.builder("memory").counter("gib", 8).build())
                        .devices(gpus(1))
                        .build();
            default -> {
                Pool.Builder pool = Pool.builder(name);
                Stream.of(kind.split("\\+")).forEach(part -> add(part, pool));
                yield pool.build();
            }
        };
    }

    private void add(String part, Pool.Builder pool) {
        String[] parts = part.split(":");
        switch (parts[0]) {
            case "ids" -> {
                String[] ids = parts[1].split(",");
                IntStream.range(0, ids.length)
                        .mapToObj(i -> Device.builder("gpu-" + i).physicalId(ids[i]))
                        .forEach(gpu -> pool.device(gpu.build()));
            }
            case "tainted" -> {
                String[] limits = parts[1].split("-");
                IntStream.rangeClosed(Integer.parseInt(limits[0]), Integer.parseInt(limits[1]))
                        .forEach(i -> pool.device(tainted("gpu-" + i, Taint.Effect.NO_SCHEDULE)));
            }
            case "set" ->
                pool.counterSet(
                        CounterSet.builder(parts[1]).counter("memory", 1).build());
            case "wrong" ->
                IntStream.range(0, Integer.parseInt(parts[1]))
                        .mapToObj(i -> Device.builder("wrong-" + i).attribute("-", i))
                        .forEach(wrong -> pool.device(wrong.build()));
            case "partitioned" -> {
                String[] numbers = parts[1].split("x");
                Pool partitioned =
                        JointSlicePlannerTest.gpus(0, Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
                partitioned.counterSets().forEach(pool::counterSet);
                partitioned.devices().forEach(pool::device);
            }
            default -> {
                if (part.matches("\\d+")) {
                    gpus(Integer.parseInt(part)).forEach(pool::device);
                } else {
                    pool.device(defined.getOrDefault(part, Device.builder(part).build()));
                }
            }
        }
    }

    /** Of the releases, the ones before 1.35 refuse devices without their counter sets, and others devices with sets. */
    private void server(int minor) {
        store.kubernetesMinor = minor;
        store.refuses = content -> minor < 35
                ? !resolves(content)
                : !content.devices().isEmpty() && !content.counterSets().isEmpty();
    }

    private static boolean resolves(Content content) {
        Set<String> sets = content.counterSets().stream().map(CounterSet::name).collect(Collectors.toSet());
        return content.devices().stream()
                .flatMap(device -> device.consumesCounters().stream())
                .allMatch(consumed -> sets.contains(consumed.counterSet()));
    }

    /** Lets the server store all devices changed. */
    private void keeping(UnaryOperator<Device> change) {
        store.keeps = content ->
                content.withDevices(content.devices().stream().map(change).toList());
    }

    /** Replaces a slice, as if it had always been so. */
    private void replace(String how) {
        Stored own = store.slices.remove(anySlice());
        Content content = switch (how) {
            case "undecodable" -> own.content().withDevices(List.of());
            case "interrupted" -> own.content().at(7, 3); // a change of the pool that broke off
            default -> own.content();
        };
        boolean isOurs = !how.equals("foreign");
        store.slices.put(
                "other",
                new Stored(
                        "other", own.uid(), own.resourceVersion(), isOurs, content, !how.equals("undecodable"), "{}"));
    }

    private void server(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "server" -> server(Integer.parseInt(words[1]));
            case "release" -> store.kubernetesMinor = Integer.parseInt(words[1]);
            case "versions-fail" -> store.versionFailure = failure(words, 1, text);
            case "error-of-the-machine" -> store.listError = new OutOfMemoryError("test");
            case "drops-taints" -> keeping(Feature.TAINTS::without);
            case "drops-guards" ->
                keeping(device -> device.toBuilder()
                        .taints(device.taints().stream()
                                .filter(taint -> taint.effect() == Taint.Effect.NONE)
                                .toList())
                        .build());
            case "drops-counters" ->
                store.keeps = content -> new Content(
                        content.pool(),
                        content.generation(),
                        content.sliceCount(),
                        content.placement(),
                        content.devices().stream()
                                .map(Feature.COUNTERS::without)
                                .toList(),
                        List.of());
            case "becomes" -> replace(words[1]);
            case "remember-all-that-is-visible" -> rememberWhatWasEverVisible();
            default -> assertIs(words, text);
        }
    }

    private void cluster(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "fails" -> store.failing(words.length == 1 ? "" : words[1], failure(words, 2, text));
            case "lists-miss-the-api" -> store.listFailure = new ClusterException.ApiMissing(text);
            case "lists-fail" -> store.listFailure = failure(words, 1, text);
            case "questions-fail" -> store.questionFailure = failure(words, 1, text);
            case "loses-answers" -> store.losesAnswers = words[1].equals("yes");
            case "loses-only-answers" -> store.losesAnswersOnly = true;
            case "create" -> store.create(store.slices.size(), content(words[1]));
            case "remove" -> removeAnySlice();
            case "wipe" -> slicesOf(words[1]).forEach(slice -> store.remove(slice.name()));
            case "alter" -> store.change(anySlice(), content -> altered(content, words));
            case "late" -> store.late(anySlice());
            case "same" -> store.change(anySlice(), content -> content);
            case "watches-end" -> store.endWatches();
            case "watches-end-at-once" -> {
                store.onWatch = () -> loop.execute(store::endWatches);
                store.endWatches();
            }
            case "deafen" -> scopes(words).forEach(store::deafen);
            case "bookmark" -> scopes(words).forEach(store::bookmark);
            case "allocate" -> {
                ClaimObject.Result result = new ClaimObject.Result(
                        "gpu.example.com", "r", "node-a", words[1], null, Map.of(), false, Set.of());
                ClaimObject.Allocation allocation = new ClaimObject.Allocation(List.of(result), List.of());
                claims.put(new ClaimRef("ns", "a", "uid-a"), new ClaimObject("uid-a", allocation, Map.of(), "{}"));
            }
            case "deallocate" -> claims.clear();
            case "remember" -> remembered = Map.copyOf(store.slices);
            case "unchanged" -> assertThat(store.slices).isEqualTo(remembered);
            default -> server(words, text);
        }
    }

    private static Set<Scope> scopes(String... words) {
        return words.length == 1 ? EnumSet.allOf(Scope.class) : EnumSet.of(Scope.valueOf(words[1]));
    }

    /** The failure of a status, and of a time to wait or a message; none without a status. */
    private static @Nullable ClusterException failure(String[] words, int at, String message) {
        if (words.length <= at) {
            return null;
        }
        int status = Integer.parseInt(words[at]);
        if (!message.isEmpty()) {
            return Failures.invalid(message);
        }
        return words.length == at + 1 ? Failures.status(status) : Failures.retryAfter(status, duration(words[at + 1]));
    }

    private List<Stored> slicesOf(String pool) {
        return store.slices.values().stream()
                .filter(slice -> slice.content().pool().value().equals(pool))
                .toList();
    }

    private static Content altered(Content content, String... words) {
        Content fewer = content.withDevices(gpus(Integer.parseInt(words[1])));
        return words.length == 2 ? fewer : fewer.at(Integer.parseInt(words[3]), 1);
    }

    private void assertIs(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "names" -> assertThat(String.join(" ", names(words[1]))).isEqualTo(text);
            case "devices" -> assertThat(devices(words[1])).isEqualTo(gpus(Integer.parseInt(text)));
            case "has" -> assertThat(names(words[1])).contains(text);
            case "lacks" -> assertThat(names(words[1])).doesNotContain(text);
            case "count" -> assertThat(names(words[1])).hasSize(Integer.parseInt(text));
            case "taints" ->
                assertThat(devices(words[1]))
                        .hasSize(Integer.parseInt(text.split(" of ")[0]))
                        .allMatch(device -> device.taints().size() == Integer.parseInt(text.split(" of ")[1]));
            case "writes" -> assertThat(list(store.writes.stream().sorted())).isEqualTo(text);
            case "generations" ->
                assertThat(store.slices.values())
                        .allMatch(slice -> slice.content().generation() == Long.parseLong(text));
            case "published", "unpublished" -> assertThat(isPublished()).isEqualTo(words[0].equals("published"));
            case "taints-published", "taints-unpublished" ->
                assertThat(publisher.areTaintsPublished()).isEqualTo(words[0].equals("taints-published"));
            case "current" -> assertThat(publisher.lastInventory()).contains(inventory);
            case "stored" -> assertThat(publisher.storedDevices()).isEqualTo(devices(words[1]));
            case "last" ->
                assertThat(publisher
                                .lastInventory()
                                .map(last -> "" + last.pools().get(0).devices().size())
                                .orElse("none"))
                        .isEqualTo(text);
            default -> assertReported(words, text);
        }
    }

    private void assertReported(String[] words, String text) {
        switch (words[0]) {
            case "reasons" -> assertThat(list(reasons().stream())).isEqualTo(text);
            case "missing" ->
                assertThat(list(publisher.missing().stream(), " | ")).isEqualTo(text);
            case "missing-has" ->
                assertThat(list(publisher.missing().stream(), " | ")).contains(text.split(" \\| "));
            case "left-out" ->
                assertThat(list(publisher.leftOut().stream(), " | ")).isEqualTo(text);
            case "left-out-has" ->
                assertThat(publisher.leftOut())
                        .allMatch(line -> !line.contains("\n"))
                        .anySatisfy(line -> assertThat(line).contains(text.split(" \\| ")));
            case "events-are-short" ->
                assertThat(events)
                        .allSatisfy(event -> assertThat(event.message()).hasSizeLessThan(1024));
            case "same-contents" -> assertThat(contents(store.slices)).isEqualTo(contents(remembered));
            case "each-slice-is-written" -> assertThat(store.writes).hasSameSizeAs(store.slices.keySet());
            case "always-tainted" ->
                assertThat(everStored)
                        .flatExtracting(Content::devices)
                        .filteredOn(device -> device.name().value().equals(words[1]))
                        .allMatch(device -> !device.taints().isEmpty());
            case "event" ->
                assertThat(events.stream().map(DriverEvent::message))
                        .anySatisfy(message -> assertThat(message).contains(text.split(" \\| ")));
            case "last-event" -> {
                DriverEvent last = events.get(events.size() - 1);
                assertThat(last.reason() + ": " + last.message()).startsWith(text);
            }
            case "subjects" ->
                assertThat(events).extracting(DriverEvent::subject).containsOnly(text);
            default ->
                assertNumber(numbers().get(words[0]) - (words.length == 3 ? marked.get(words[0]) : 0), words, text);
        }
    }

    private static Map<String, Content> contents(Map<String, Stored> slices) {
        return slices.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> each.getValue().content()));
    }

    private Map<String, Integer> numbers() {
        Map<String, Integer> numbers = new HashMap<>();
        numbers.put("slices", store.slices.size());
        numbers.put("counted", publisher.status().slices());
        numbers.put("watches", store.watchCount());
        numbers.put("waiting", loop.waiting());
        numbers.put("ran", loop.ran());
        numbers.put("written", store.writes.size());
        numbers.put("lists", store.lists);
        numbers.put("requests", store.writes.size() + store.lists + store.questions);
        numbers.put("attempts", store.attempts);
        numbers.put("conflicts", store.conflicts);
        numbers.put("questions", store.questions);
        numbers.put("versions-read", store.versionsRead);
        numbers.put("withheld", publisher.leftOut().size());
        numbers.put("joint", (int) store.slices.values().stream()
                .map(Stored::content)
                .filter(it -> !it.devices().isEmpty() && !it.counterSets().isEmpty())
                .count());
        numbers.put("requested", lock.requested);
        numbers.put("turns", lock.takenAndNotGivenBack);
        return numbers;
    }
}
