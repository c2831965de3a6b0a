// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.testkit.Scenarios;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A publisher and its cluster, minute by minute, as publishing-scenarios.txt says. */
class PublishingScenariosTest extends PublisherUnderTest {

    private static final Taint TAINT = Taint.of("k/unhealthy", null, Taint.Effect.NO_SCHEDULE);

    @TempDir
    Path data;

    private Map<String, Integer> marked = Map.of();
    private Map<String, Stored> remembered = Map.of();
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
        for (String line : scenario.split("\n")) {
            if (!line.startsWith("#")) {
                step(line);
            }
        }
    }

    private void step(String line) throws Exception {
        String[] parts = line.split(" : ", 2);
        String[] words = parts[0].split(" ");
        String text = parts.length == 1 ? "" : parts[1];
        switch (words[0]) {
            case "start" -> {
                inventory = words.length == 1 ? inventory : inventory(words);
                names = isPinned ? names(data) : names;
                start();
            }
            case "publish" -> {
                inventory = inventory(words);
                publisher.inventoryChanged();
                loop.advance(NOW);
            }
            case "inventory" -> inventory = inventory(words);
            case "changed" -> publisher.inventoryChanged();
            case "leave-out" -> leftOut = text.isEmpty() ? List.of() : List.of(new LeftOut(words[1], text));
            case "unreadable" ->
                unreadable = text.isEmpty() ? new UnsupportedOperationException() : new LinkageError(text);
            case "restart-unreadable" -> {
                unreadable = new LinkageError("the hardware fails");
                restart();
            }
            case "readable" -> unreadable = null;
            case "answers-null" -> answersNull = words[1].equals("yes");
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
            case "pinned" -> isPinned = true;
            case "removes-on-close" -> removesOnClose = true;
            case "others" -> lock.othersHaveIt = words[1].equals("lead");
            case "advance" -> loop.advance(duration(words[1]));
            case "repeat" -> {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    for (String step : text.split(" ; ")) {
                        step(step.replace("{i}", "" + i % 60));
                    }
                }
            }
            case "mark" -> {
                store.writes.clear();
                marked = numbers();
            }
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

    private static Pool pool(String name, String kind) {
        if (kind.startsWith("all:")) {
            return pool(name, kind.substring(4)).toBuilder()
                    .placement(new Placement.AllNodes())
                    .build();
        }
        if (kind.startsWith("ids:")) {
            String[] ids = kind.substring(4).split(",");
            return Pool.ofNode(
                    name,
                    IntStream.range(0, ids.length)
                            .mapToObj(i -> Device.builder("gpu-" + i)
                                    .physicalId(ids[i])
                                    .build())
                            .toList());
        }
        return switch (kind) {
            case "elsewhere" -> Pool.publishedElsewhere(name);
            case "tainted" -> Pool.ofNode(name, List.of(tainted("gpu-0", Taint.Effect.NO_EXECUTE)));
            case "invalid" ->
                Pool.ofNode(
                        name, List.of(Device.builder("gpu-0").rawField("x", "{").build()));
            default -> Pool.ofNode(name, gpus(Integer.parseInt(kind)));
        };
    }

    private void cluster(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "fails" -> store.failing(words.length == 1 ? "" : words[1], failure(words, 2, text));
            case "lists-fail" -> store.listFailure = failure(words, 1, text);
            case "questions-fail" -> store.questionFailure = failure(words, 1, text);
            case "loses-answers" -> store.losesAnswers = words[1].equals("yes");
            case "loses-only-answers" -> store.losesAnswersOnly = true;
            case "drops-taints" ->
                store.keeps = content -> content.withDevices(content.devices().stream()
                        .map(device -> device.toBuilder().taints(List.of()).build())
                        .toList());
            case "create" -> store.create(store.slices.size(), content(words[1]));
            case "remove" -> removeAnySlice();
            case "wipe" -> slicesOf(words[1]).forEach(slice -> store.remove(slice.name()));
            case "alter" -> store.change(anySlice(), content -> altered(content, words));
            case "same" -> store.change(anySlice(), content -> content);
            case "watches-end" -> store.endWatches();
            case "watches-end-at-once" -> {
                store.onWatch = () -> loop.execute(store::endWatches);
                store.endWatches();
            }
            case "deafen" -> {
                if (words.length == 1) {
                    store.deafen();
                } else {
                    store.deafen(Scope.valueOf(words[1]));
                }
            }
            case "bookmark" -> {
                if (words.length == 1) {
                    store.bookmark();
                } else {
                    store.bookmark(Scope.valueOf(words[1]));
                }
            }
            case "allocate" -> {
                ClaimObject.Result result = new ClaimObject.Result(
                        "gpu.example.com", "r", "node-a", words[1], null, Map.of(), false, Set.of());
                ClaimObject.Allocation allocation = new ClaimObject.Allocation(List.of(result), List.of());
                claims.put(new ClaimRef("ns", "a", "uid-a"), new ClaimObject("uid-a", allocation, Map.of(), "{}"));
            }
            case "deallocate" -> claims.clear();
            case "remember" -> remembered = Map.copyOf(store.slices);
            case "unchanged" -> assertThat(store.slices).isEqualTo(remembered);
            default -> assertIs(words, text);
        }
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
            case "count" -> assertThat(names(words[1])).hasSize(Integer.parseInt(text));
            case "taints" ->
                assertThat(devices(words[1]))
                        .hasSize(Integer.parseInt(text.split(" of ")[0]))
                        .allMatch(device -> device.taints().size() == Integer.parseInt(text.split(" of ")[1]));
            case "writes" ->
                assertThat(list(store.writes.stream().sorted(), ", ")).isEqualTo(text);
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
            case "reasons" ->
                assertThat(list(reasons().stream().map(Object::toString), ", ")).isEqualTo(text);
            case "missing" ->
                assertThat(list(publisher.missing().stream(), " | ")).isEqualTo(text);
            case "missing-has" ->
                assertThat(list(publisher.missing().stream(), " | ")).contains(text.split(" \\| "));
            case "left-out" ->
                assertThat(list(publisher.leftOut().stream().map(Object::toString), " | "))
                        .isEqualTo(text);
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
                assertThat(numbers().get(words[0]) - (words.length == 3 ? marked.get(words[0]) : 0))
                        .as(words[0])
                        .isBetween(
                                Integer.valueOf(text.isEmpty() ? words[1] : text),
                                Integer.valueOf(text.isEmpty() ? words[2] : text));
        }
    }

    private static String list(Stream<String> parts, String separator) {
        String all = parts.collect(Collectors.joining(separator));
        return all.isEmpty() ? "none" : all;
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
        numbers.put("attempts", store.attempts);
        numbers.put("conflicts", store.conflicts);
        numbers.put("requested", lock.requested);
        numbers.put("turns", lock.takenAndNotGivenBack);
        return numbers;
    }
}
