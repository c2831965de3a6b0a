// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest.device;
import static io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.JointSlicePlannerTest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers of different releases, each of which refuses the counter sets of the others' layout. */
class PublishingLayoutTest extends PublisherUnderTest {

    private static final Pool GPUS = with(JointSlicePlannerTest.gpus(0, 3, 2), device("nic-0"));

    /** The server becomes one of that release. */
    private void server(int minor) {
        store.kubernetesMinor = minor;
        store.refuses = content -> minor < 35
                ? !resolves(content)
                : !content.devices().isEmpty() && !content.counterSets().isEmpty();
    }

    private static boolean resolves(Content content) {
        Set<String> sets = content.counterSets().stream().map(CounterSet::name).collect(Collectors.toSet());
        return content.devices().stream()
                .map(Device::consumesCounters)
                .flatMap(List::stream)
                .map(CounterConsumption::counterSet)
                .allMatch(sets::contains);
    }

    private List<Content> contents() {
        return store.slices.values().stream().map(Stored::content).toList();
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
    void theServerIsAskedOnceForEachConnection() throws Exception {
        server(34);
        start();
        publish(GPUS);
        publish(with(GPUS, device("nic-1")));

        assertThat(store.versionsRead).isEqualTo(1);
        assertThat(store.questions).isEqualTo(1);
        assertThat(joint()).isEqualTo(3);
        assertThat(names("node-a")).hasSize(8);
        assertThat(isPublished()).isTrue();
        assertThat(events).isEmpty();

        store.endWatches();
        loop.advance(SOON);
        assertThat(store.versionsRead).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"33, 3", "34, 3", "35, 0", "37, 0", "99, 0", "0, 0"})
    void aServerOfNoKnownReleaseIsTakenForTheNearestOrANewOne(int minor, int joint) throws Exception {
        server(minor == 0 ? 36 : minor);
        store.kubernetesMinor = minor;

        start(GPUS);

        assertThat(joint()).isEqualTo(joint);
        assertThat(isPublished()).isTrue();
        assertThat(events).isEmpty();
    }

    private static Device fiveTaints() {
        Device.Builder gpu = Device.builder("gpu-0");
        IntStream.range(0, 5).forEach(i -> gpu.taint(Taint.of("t" + i, null, Effect.NO_EXECUTE)));
        return gpu.build();
    }

    @Test
    void aDeviceThatItsReleaseAloneRefusesIsLeftOut() throws Exception {
        server(34);
        start(Pool.ofNode("node-a", List.of(fiveTaints(), device("nic-0"))));

        assertThat(names("node-a")).containsExactly("nic-0");
        assertThat(isPublished()).isTrue();
        assertThat(publisher.leftOut()).singleElement().asString().contains("devices[gpu-0].taints: Too many: 5");

        server(35);
        store.endWatches();
        loop.advance(SOON);

        assertThat(names("node-a")).containsExactly("gpu-0", "nic-0");
        assertThat(publisher.leftOut()).isEmpty();
    }

    @Test
    void aPoolThatItsReleaseAloneRefusesIsNotSent() throws Exception {
        server(34);
        start(Pool.ofNode("node-a", List.of(fiveTaints())));

        assertThat(store.writes).isEmpty();
        assertThat(store.versionsRead).isEqualTo(1);
        assertThat(events).singleElement().asString().contains("INVALID_POOL", "devices[gpu-0].taints: Too many: 5");

        server(35);
        store.endWatches();
        loop.advance(SOON);

        assertThat(names("node-a")).containsExactly("gpu-0");
        assertThat(isPublished()).isTrue();
    }

    @Test
    void aRestartWritesNothing() {
        server(34);
        start(GPUS);
        Map<String, Stored> before = Map.copyOf(store.slices);
        store.questions = 0;

        restart();

        assertThat(store.slices).isEqualTo(before);
        assertThat(store.questions).isZero();
    }

    @Test
    void anUpgradeOfTheServerIsOneNewGeneration() throws Exception {
        server(34);
        start(GPUS);
        long before = generations().get(0);
        store.writes.clear();

        server(36);
        store.endWatches();
        loop.advance(SOON);

        assertThat(joint()).isZero();
        assertThat(generations()).containsExactly(before + 1);
        assertThat(store.writes).hasSize(store.slices.size());
        assertThat(names("node-a")).hasSize(7);
        assertThat(isPublished()).isTrue();
        assertThat(events).isEmpty();
    }

    @Test
    void aServerThatRefusesIsAskedForItsReleaseAgain() throws Exception {
        server(36);
        start(GPUS);
        assertThat(joint()).isZero();

        server(34); // and no watch ends
        publish(with(GPUS, device("gpu-0-full", "gpu-0")));
        assertThat(reasons()).containsExactly(Reason.POOL_REJECTED);
        loop.advance(SOON);

        assertThat(joint()).isEqualTo(3);
        assertThat(isPublished()).isTrue();
        assertThat(reasons()).containsExactly(Reason.POOL_REJECTED, Reason.PUBLISHING_RECOVERED);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 503})
    void aReleaseThatCannotBeReadHoldsPoolsUpThatDependOnIt(int status) throws Exception {
        store.versionFailure = Failures.status(status);
        start(Pool.ofNode("node-a", List.of(device("plain"))));
        publish(Pool.ofNode("node-a", List.of(device("plain"), device("second"))));
        assertThat(names("node-a")).containsExactly("plain", "second");
        assertThat(store.versionsRead).isEqualTo(1);
        publish(Pool.ofNode("node-a", List.of(fiveTaints(), device("nic-0"))));
        assertThat(names("node-a")).doesNotContain("nic-0");
        publish(GPUS);
        assertThat(names("node-a")).doesNotContain("nic-0");

        store.versionFailure = null;
        loop.advance(SOON);

        assertThat(names("node-a")).contains("nic-0");
        assertThat(isPublished()).isTrue();
    }

    @Test
    void aSetWhoseDevicesNoSliceHoldsIsToldAndLeavesTheLastGoodSlices() throws Exception {
        server(34);
        start(GPUS);
        Map<String, Stored> before = Map.copyOf(store.slices);

        publish(JointSlicePlannerTest.gpus(0, 2, 129));

        assertThat(store.slices).isEqualTo(before);
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.reason()).isEqualTo(Reason.INVALID_POOL);
            assertThat(event.message()).contains("Pool node-a", "[gpu-0]", "[gpu-1]", "129");
        });

        server(36);
        store.endWatches();
        loop.advance(SOON);

        assertThat(names("node-a")).hasSize(258);
        assertThat(isPublished()).isTrue();
    }

    @Test
    void whatAServerHasNoGateForIsWithdrawnAndNotMeasured() {
        server(34);
        store.keeps = content -> new Content(
                content.pool(),
                content.generation(),
                content.sliceCount(),
                content.placement(),
                content.devices().stream().map(Feature.COUNTERS::without).toList(),
                List.of());
        start();
        publish(with(JointSlicePlannerTest.gpus(0, 1, 129), device("nic-0")));

        assertThat(names("node-a")).containsExactly("nic-0");
        assertThat(reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
    }
}
