// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.publish.FakeSliceStore;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.publish.Turn;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A maintenance as a driver follows it, look by look, with a publisher and files, as maintenance.txt says. */
class RunningMaintenanceTest implements ScenarioSteps {

    private static final String DRIVER = "gpu.example.com";
    private static final String NODE = "node-a";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final HeldClaim CLAIM = HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
            .phase(HeldClaim.Phase.PREPARED)
            .build();

    @TempDir
    private Path directory;

    private final SuspendableProviderTest.Hardware hardware = new SuspendableProviderTest.Hardware();
    private final FakeSliceStore store = new FakeSliceStore();
    private final List<DriverEvent> events = new CopyOnWriteArrayList<>();
    private final Map<String, Maintenance> asked = new HashMap<>(); // by their ids
    private volatile Instant now = Instant.parse("2026-11-26T03:00:00Z");
    private List<HeldClaim> held = List.of();
    private boolean isObstructed;
    private volatile boolean othersPublish;
    private MaintenanceFiles files;
    private SlicePublisher publisher;
    private RunningMaintenance running;

    private static Maintenance maintenance(String id, String devices) {
        return new Maintenance(id, List.of(devices), "NoSchedule", "2026-11-26T02:59:00Z");
    }

    @BeforeEach
    void start() throws Exception {
        files = new MaintenanceFiles(directory);
        hardware.inventory =
                Inventory.of(Pool.ofNode(NODE, List.of(Device.builder("gpu-0").build())));
        publish();
        assertThat(publisher.awaitPublished(LIMIT)).isTrue();
        hardware.calls.clear();
    }

    private void publish() {
        DevicePolicies policies = new DevicePolicies(DRIVER, NODE, null, events::add);
        var provider = new SuspendableProvider(hardware, () -> now, () -> now.toEpochMilli() * 1_000_000);
        publisher = new SlicePublisher(new SlicePublisher.Parts(
                provider::inventory,
                true,
                store,
                () -> othersPublish ? Optional.empty() : Optional.of(new Turn(() -> false, () -> {})),
                event -> {},
                Meters.none(),
                () -> false,
                policies::apply,
                policies::applyToStored,
                new PinnedNames(DRIVER, DevicePins.in(directory), ClaimDecoding.listing(Map::of), event -> {})));
        running = new RunningMaintenance(files, policies, provider, events::add);
        publisher.readInventory();
        publisher.start();
    }

    @AfterEach
    void stop() {
        hardware.release();
        publisher.close();
    }

    private void look() throws Exception {
        running.look(publisher, () -> held);
    }

    private List<String> taints() {
        return store.slices.values().stream()
                .flatMap(slice -> slice.content().devices().stream())
                .flatMap(device -> device.taints().stream())
                .map(Taint::key)
                .toList();
    }

    private void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(() -> asked + " " + events).isLessThan(end);
        }
    }

    /** Looks until something has happened; the hardware and the answer's file may fail. */
    private void lookUntil(Callable<Boolean> condition) throws Exception {
        await(() -> {
            try {
                look();
            } catch (IOException | IllegalStateException e) {
                assertThat(e instanceof IOException ? isObstructed : e == hardware.failure)
                        .as(e::toString)
                        .isTrue();
            }
            return condition.call();
        });
    }

    private DriverEvent lastEvent() {
        return events.get(events.size() - 1);
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "ask" -> {
                asked.put(words[1], maintenance(words[1], words.length == 2 ? "*" : words[2]));
                files.write(asked.get(words[1]));
            }
            case "withdraw" -> assertThat(files.remove()).isTrue();
            case "write" -> Files.writeString(directory.resolve(words[1]), text);
            case "obstruct" -> {
                Files.createDirectory(directory.resolve(words[1]));
                isObstructed = true;
            }
            case "remove-answer" -> files.removeAnswer();
            case "restart" -> {
                publisher.close();
                publish();
                hardware.failure = null;
                hardware.calls.clear();
            }
            case "others-publish" -> othersPublish = true;
            case "claims" -> held = words[1].equals("0") ? List.of() : List.of(CLAIM);
            case "hardware-fails" -> hardware.failure = new IllegalStateException("a file is open");
            case "hardware-works" -> hardware.failure = null;
            case "hang" -> hardware.hang(words[1]);
            case "release" -> hardware.release();
            case "read-hangs" -> {
                hardware.hang("inventory");
                publisher.inventoryChanged();
                await(() -> hardware.calls.contains("inventory"));
            }
            case "advance" -> now = now.plus(Duration.parse("PT" + words[1]));
            case "look" -> look();
            case "look-fails" -> assertThatThrownBy(this::look).isSameAs(hardware.failure);
            case "look-cannot-answer" -> assertThatThrownBy(this::look).isInstanceOf(IOException.class);
            case "look-until-call" -> lookUntil(() -> hardware.calls.contains(words[1]));
            case "look-until-recovered" -> lookUntil(() -> lastEvent().reason() == Reason.PUBLISHING_RECOVERED);
            case "await-answer" -> lookUntil(() -> answer(words[1]).equals(text));
            default -> compare(words, text);
        }
    }

    /** Returns what the driver has answered. */
    private String answer(String id) {
        return files.answer(asked.get(id))
                .map(answer -> list(Stream.of(
                                answer.published() ? "tainted" : "",
                                answer.suspended() ? "suspended" : "",
                                answer.concerned() == 0 ? "none concerned" : "",
                                Objects.requireNonNullElse(answer.hanging(), ""))
                        .filter(part -> !part.isEmpty())))
                .orElse("missing");
    }

    private void compare(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "answer" -> assertThat(answer(words[1])).isEqualTo(text);
            case "published" -> assertThat(publisher.awaitPublished(LIMIT)).isTrue();
            case "taints" -> assertThat(list(taints().stream())).isEqualTo(text);
            case "calls" -> assertThat(list(hardware.calls.stream())).isEqualTo(text);
            case "last-call" -> assertThat(hardware.calls).endsWith(text);
            case "no-call" -> assertThat(hardware.calls).doesNotContain(text);
            case "no-file" -> assertThat(directory).isEmptyDirectory();
            case "events" ->
                assertThat(list(events.stream().map(DriverEvent::reason))).isEqualTo(text);
            case "reasons" ->
                assertThat(list(events.stream().map(DriverEvent::reason).distinct()))
                        .isEqualTo(text);
            case "all-events" ->
                assertThat(events)
                        .allSatisfy(event -> assertThat(event.message()).contains(text.split(" \\| ")));
            case "events-are-one" ->
                assertThat(events).allMatch(event -> event.isSameAs(events.get(0))); // of which one is delivered
            case "last-event-ends-the-first" -> {
                assertThat(lastEvent().reason()).isEqualTo(Reason.PUBLISHING_RECOVERED);
                assertThat(lastEvent().subject()).isEqualTo(events.get(0).subject());
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("maintenance.txt")
    void theHardwareIsOutOfUseOnceItsClaimsHaveEnded(String scenario) throws Exception {
        play(scenario);
    }
}
