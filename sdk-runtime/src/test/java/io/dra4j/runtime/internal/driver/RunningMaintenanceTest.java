// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import io.dra4j.runtime.internal.publish.FakeSliceStore;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.publish.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A maintenance as a driver follows it, look by look, with a publisher and files. */
class RunningMaintenanceTest {

    private static final String DRIVER = "gpu.example.com";
    private static final String NODE = "node-a";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Maintenance ALL = maintenance("1", "*");
    private static final HeldClaim CLAIM = HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
            .phase(HeldClaim.Phase.PREPARED)
            .build();

    @TempDir
    private Path directory;

    private final SuspendableProviderTest.Hardware hardware = new SuspendableProviderTest.Hardware();
    private final FakeSliceStore store = new FakeSliceStore();
    private final List<DriverEvent> events = new CopyOnWriteArrayList<>();
    private volatile Instant now = Instant.parse("2026-11-26T03:00:00Z");
    private List<HeldClaim> held = List.of();
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
        SuspendableProvider provider = new SuspendableProvider(hardware, () -> now);
        publisher = new SlicePublisher(new SlicePublisher.Parts(
                provider::inventory,
                true,
                store,
                () -> othersPublish ? Optional.empty() : Optional.of(new Turn(() -> false, () -> {})),
                event -> {},
                Meters.none(),
                false,
                policies::apply,
                policies::applyToStored,
                new PinnedNames(DRIVER, DevicePins.in(directory), ClaimDecoding.listing(Map::of), event -> {})));
        running = new RunningMaintenance(files, policies, provider, events::add);
        publisher.readInventory();
        publisher.start();
    }

    @AfterEach
    void stop() {
        hardware.suspending.countDown();
        hardware.reading.countDown();
        publisher.close();
    }

    private void look() throws Exception {
        running.look(publisher, () -> held);
    }

    private Answer answer(Maintenance asked) {
        return files.answer(asked).orElseThrow();
    }

    /** Looks until the driver has answered so. */
    private void awaitAnswer(Maintenance asked, Answer answer) throws Exception {
        lookUntil(() -> files.answer(asked).equals(Optional.of(answer)));
    }

    private List<String> taints() {
        return store.slices.values().stream()
                .flatMap(slice -> slice.content().devices().stream())
                .flatMap(device -> device.taints().stream())
                .map(Taint::key)
                .toList();
    }

    @Test
    void theHardwareStaysInUseWhileTheTaintIsNotInTheCluster() throws Exception {
        publisher.close();
        othersPublish = true;
        publish();
        hardware.calls.clear();
        files.write(ALL);

        awaitAnswer(ALL, new Answer("1", false, false, null));
        look();

        assertThat(hardware.calls).doesNotContain("suspend");
        assertThat(taints()).isEmpty();
    }

    @Test
    void aClaimKeepsTheHardwareAndOnePreparedJustBeforeTheSuspendResumes() throws Exception {
        held = List.of(CLAIM);
        files.write(ALL);
        awaitAnswer(ALL, new Answer("1", true, false, null));
        look();
        assertThat(hardware.calls).isEmpty();

        held = List.of();

        awaitAnswer(ALL, new Answer("1", true, true, null));

        held = List.of(CLAIM);

        awaitAnswer(ALL, new Answer("1", true, false, null));
        assertThat(hardware.calls).containsExactly("suspend", "resume");
    }

    @Test
    void aMaintenanceOfSomeDevicesLeavesTheHardwareInUse() throws Exception {
        Maintenance some = maintenance("1", "gpu-0");
        files.write(some);

        awaitAnswer(some, new Answer("1", true, false, null));

        look();
        assertThat(hardware.calls).isEmpty();
    }

    @Test
    void anotherMaintenanceIsAnsweredAnewAndSoIsOneThatAnEarlierProcessAnswered() throws Exception {
        files.write(ALL);
        awaitAnswer(ALL, new Answer("1", true, true, null));
        Maintenance next = maintenance("2", "*");

        files.write(next);

        assertThat(files.answer(next)).as("before the driver has looked").isEmpty();
        awaitAnswer(next, new Answer("2", true, true, null));
        assertThat(hardware.calls).containsExactly("suspend");

        publisher.close();

        publish();

        assertThat(files.answer(next)).isEmpty();
        awaitAnswer(next, new Answer("2", true, true, null));
    }

    @Test
    void theHardwareIsGivenBackAfterTheTaintAndTheEndResumesReadsAndTakesTheTaintBack() throws Exception {
        files.write(ALL);
        awaitAnswer(ALL, new Answer("1", true, true, null));
        assertThat(taints()).containsExactly("gpu.example.com/maintenance");

        assertThat(files.remove()).isTrue();
        look();

        assertThat(publisher.awaitPublished(LIMIT)).isTrue();
        assertThat(taints()).isEmpty();
        assertThat(hardware.calls).containsExactly("suspend", "resume", "inventory");
        assertThat(events).isEmpty();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aSuspendThatHangsIsReportedOnceAndKeepsNothingElseWaiting() throws Exception {
        hardware.suspending = new CountDownLatch(1);
        files.write(ALL);
        awaitAnswer(ALL, new Answer("1", true, false, null));
        lookUntil(() -> !hardware.calls.isEmpty());
        assertThat(events).isEmpty();

        now = now.plusSeconds(30);
        look();
        held = List.of(CLAIM); // which waits for the hardware, too
        look();

        String call = "suspend, in progress since 2026-11-26T03:00:00Z";
        assertThat(answer(ALL)).isEqualTo(new Answer("1", true, false, call));
        assertThat(events)
                .hasSize(2)
                .allMatch(event -> event.isSameAs(events.get(0))) // of which one is delivered
                .allMatch(event -> event.reason() == Reason.HARDWARE_HANGS)
                .allMatch(event -> event.message()
                        .startsWith("The driver can't release its hardware for maintenance, because a call of the"
                                + " provider does not end: "
                                + call));

        held = List.of();
        hardware.suspending.countDown();
        awaitAnswer(ALL, new Answer("1", true, true, null));
        assertThat(events).hasSizeGreaterThan(2);
        assertThat(events.get(events.size() - 1))
                .matches(event -> event.reason() == Reason.PUBLISHING_RECOVERED)
                .matches(event -> event.subject().equals(events.get(0).subject()));
    }

    @Test
    void aMaintenanceEndsOnceASuspendThatHangsHasEnded() throws Exception {
        hardware.suspending = new CountDownLatch(1);
        files.write(ALL);
        lookUntil(() -> !hardware.calls.isEmpty());
        now = now.plusSeconds(30);

        files.remove();
        look();

        assertThat(events)
                .singleElement()
                .extracting(DriverEvent::message)
                .asString()
                .contains("can't use its hardware again after the maintenance", ": suspend, in");
        hardware.suspending.countDown();
        lookUntil(() -> hardware.calls.contains("inventory"));
        assertThat(hardware.calls).containsExactly("suspend", "resume", "inventory");
        assertThat(events.get(events.size() - 1).reason()).isEqualTo(Reason.PUBLISHING_RECOVERED);
    }

    @Test
    void aCallThatHangsHasNotEndedWithTheMaintenance() throws Exception {
        hardware.reading = new CountDownLatch(1);
        publisher.inventoryChanged();
        await(() -> hardware.calls.contains("inventory"));
        now = now.plusSeconds(30);
        files.write(ALL);
        String call = "inventory, in progress since 2026-11-26T03:00:00Z";
        awaitAnswer(ALL, new Answer("1", true, false, call));

        files.remove();
        look();
        look();

        assertThat(events).extracting(DriverEvent::reason).containsOnly(Reason.HARDWARE_HANGS);
        hardware.reading.countDown();
        lookUntil(() -> events.get(events.size() - 1).reason() == Reason.PUBLISHING_RECOVERED);
    }

    private void lookUntil(Callable<Boolean> condition) throws Exception {
        await(() -> {
            look();
            return condition.call();
        });
    }

    private void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(() -> files.answer(ALL).toString()).isLessThan(end);
        }
    }

    @Test
    void theEndResumesAlsoIfNoAnswerCouldBeWritten() throws Exception {
        Files.createDirectory(directory.resolve("maintenance-answer.json"));
        files.write(ALL);
        await(() -> {
            assertThatThrownBy(this::look).isInstanceOf(IOException.class);
            return hardware.calls.contains("suspend");
        });

        files.remove();
        lookUntil(() -> hardware.calls.contains("resume"));

        assertThat(publisher.awaitPublished(LIMIT)).isTrue();
        assertThat(taints()).isEmpty();
    }

    @Test
    void aSuspendThatFailsHidesNotThatTheTaintIsInTheCluster() throws Exception {
        held = List.of(CLAIM);
        files.write(ALL);
        awaitAnswer(ALL, new Answer("1", true, false, null));
        files.removeAnswer();
        Maintenance next = maintenance("2", "*");
        files.write(next);
        held = List.of();
        hardware.failure = new IllegalStateException("a file is open");
        while (hardware.calls.isEmpty()) {
            try {
                look();
            } catch (IllegalStateException e) {
                assertThat(e).isSameAs(hardware.failure);
            }
        }

        assertThatThrownBy(this::look).isSameAs(hardware.failure);

        assertThat(answer(next)).isEqualTo(new Answer("2", true, false, null));
        hardware.failure = null;
        awaitAnswer(next, new Answer("2", true, true, null));
    }

    @Test
    void hardwareThatNeverCouldBeReadIsGivenBack() throws Exception {
        publisher.close();
        hardware.failure = new IllegalStateException("no device");
        publish();
        hardware.failure = null;
        hardware.calls.clear();
        files.write(ALL);

        awaitAnswer(ALL, new Answer("1", true, true, null));

        assertThat(taints()).containsExactly("gpu.example.com/maintenance");
        assertThat(hardware.calls).endsWith("suspend");
        files.remove();
        look();
        assertThat(publisher.awaitPublished(LIMIT)).isTrue();
        assertThat(taints()).isEmpty();
    }

    @Test
    void aFileThatCanNotBeReadIsAMaintenanceOfAll() throws Exception {
        Files.writeString(directory.resolve("maintenance.json"), "{\"id\":");

        lookUntil(() -> hardware.calls.contains("suspend"));

        assertThat(taints()).containsExactly("gpu.example.com/maintenance");
    }
}
