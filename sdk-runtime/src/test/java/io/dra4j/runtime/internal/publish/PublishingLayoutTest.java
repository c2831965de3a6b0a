// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest.device;
import static io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest.gpus;
import static io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.publish.plan.Feature;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Servers of different releases, each of which refuses the counter sets of the others' layout. */
class PublishingLayoutTest {

    private static final Pool GPUS = with(gpus(0, 3, 2), device("nic-0"));
    private static final Duration SOON = Duration.ofSeconds(31);

    private final PublisherUnderTest under = new PublisherUnderTest();

    /** The server becomes one of that release. */
    private void server(int minor) {
        under.store.kubernetesMinor = minor;
        under.store.refuses =
                content ->
                        minor < 35
                                ? !resolves(content)
                                : !content.devices().isEmpty() && !content.counterSets().isEmpty();
    }

    private static boolean resolves(Content content) {
        Set<String> sets =
                content.counterSets().stream().map(CounterSet::name).collect(Collectors.toSet());
        return content.devices().stream()
                .map(Device::consumesCounters)
                .flatMap(List::stream)
                .map(CounterConsumption::counterSet)
                .allMatch(sets::contains);
    }

    private List<Content> contents() {
        return under.store.slices.values().stream().map(Stored::content).toList();
    }

    private List<Long> generations() {
        return contents().stream().map(Content::generation).distinct().toList();
    }

    private long joint() {
        return contents().stream()
                .filter(it -> !it.devices().isEmpty() && !it.counterSets().isEmpty())
                .count();
    }

    @Test
    void theServerIsAskedOnceAndOnlyForAPoolWithCounters() throws Exception {
        server(34);
        under.start();
        assertThat(under.store.versionsRead).isZero();

        under.publish(GPUS);
        under.publish(with(GPUS, device("nic-1")));

        assertThat(under.store.versionsRead).isEqualTo(1);
        assertThat(under.store.questions).isEqualTo(1);
        assertThat(joint()).isEqualTo(3);
        assertThat(under.names("node-a")).hasSize(8);
        assertThat(under.isPublished()).isTrue();
        assertThat(under.events).isEmpty();
    }

    @Test
    void aRestartWritesNothing() {
        server(34);
        under.start();
        under.publish(GPUS);
        Map<String, Stored> before = Map.copyOf(under.store.slices);
        under.publisher.close();
        under.store.questions = 0;

        under.loop = new ManualLoop();
        under.start();

        assertThat(under.store.slices).isEqualTo(before);
        assertThat(under.store.questions).isZero();
    }

    @Test
    void anUpgradeOfTheServerIsOneNewGeneration() throws Exception {
        server(34);
        under.start();
        under.publish(GPUS);
        long before = generations().get(0);
        under.store.writes.clear();

        server(36);
        under.store.endWatches();
        under.loop.advance(SOON);

        assertThat(joint()).isZero();
        assertThat(generations()).containsExactly(before + 1);
        assertThat(under.store.writes).hasSize(under.store.slices.size());
        assertThat(under.names("node-a")).hasSize(7);
        assertThat(under.isPublished()).isTrue();
        assertThat(under.events).isEmpty();
    }

    @Test
    void aServerThatRefusesIsAskedForItsReleaseAgain() throws Exception {
        server(36);
        under.start();
        under.publish(GPUS);
        assertThat(joint()).isZero();

        server(34); // and no watch ends
        under.publish(with(GPUS, device("gpu-0-full", "gpu-0")));
        assertThat(under.reasons()).containsExactly(Reason.POOL_REJECTED);
        under.loop.advance(SOON);

        assertThat(joint()).isEqualTo(3);
        assertThat(under.isPublished()).isTrue();
        assertThat(under.reasons())
                .containsExactly(Reason.POOL_REJECTED, Reason.PUBLISHING_RECOVERED);
    }

    @Test
    void aReleaseThatCannotBeReadHoldsThePoolUp() throws Exception {
        under.store.versionFailure = Failures.status(503);
        under.start();
        under.publish(GPUS);
        assertThat(under.names("node-a")).doesNotContain("nic-0");

        under.store.versionFailure = null;
        under.loop.advance(SOON);

        assertThat(under.names("node-a")).contains("nic-0");
        assertThat(under.isPublished()).isTrue();
    }

    @Test
    void aSetWhoseDevicesNoSliceHoldsIsToldAndLeavesTheLastGoodSlices() throws Exception {
        server(34);
        under.start();
        under.publish(GPUS);
        Map<String, Stored> before = Map.copyOf(under.store.slices);

        under.publish(gpus(0, 2, 129));

        assertThat(under.store.slices).isEqualTo(before);
        assertThat(under.events)
                .singleElement()
                .satisfies(
                        event -> {
                            assertThat(event.reason()).isEqualTo(Reason.INVALID_POOL);
                            assertThat(event.message())
                                    .contains("Pool node-a", "[gpu-0]", "[gpu-1]", "129");
                        });

        server(36);
        under.store.endWatches();
        under.loop.advance(SOON);

        assertThat(under.names("node-a")).hasSize(258);
        assertThat(under.isPublished()).isTrue();
    }

    @Test
    void whatAServerHasNoGateForIsWithdrawnAndNotMeasured() {
        server(34);
        under.store.keeps =
                content ->
                        new Content(
                                content.pool(),
                                content.generation(),
                                content.sliceCount(),
                                content.placement(),
                                content.devices().stream().map(Feature.COUNTERS::without).toList(),
                                List.of());
        under.start();
        under.publish(with(gpus(0, 1, 129), device("nic-0")));

        assertThat(under.names("node-a")).containsExactly("nic-0");
        assertThat(under.reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
    }
}
