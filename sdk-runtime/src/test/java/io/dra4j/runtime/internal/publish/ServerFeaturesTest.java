// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that leave out features in silence. */
class ServerFeaturesTest {

    private static final String MAPPINGS = "nodeAllocatableResourceMappings";
    private static final String RESOURCES = "nodeAllocatableResources";
    private static final Map<String, Quantity> ONE = Map.of("slots", Quantity.of(1));

    /** A device for each feature, guarded by it where it can be. */
    private static final Map<Feature, Device> DEVICES =
            new EnumMap<>(
                    Map.of(
                            Feature.TAINTS,
                            Device.builder("special").taint(taint(Effect.NO_SCHEDULE)).build(),
                            Feature.COUNTERS,
                            Device.builder("special")
                                    .consumes(new CounterConsumption("set", ONE))
                                    .build(),
                            Feature.BINDING_CONDITIONS,
                            Device.builder("special")
                                    .binding(
                                            new BindingConditions(
                                                    List.of("Ready"), List.of("Failed")))
                                    .build(),
                            Feature.MULTIPLE_ALLOCATIONS,
                            Device.builder("special")
                                    .allowMultipleAllocations(true)
                                    .capacity(
                                            "memory",
                                            new Capacity(
                                                    Quantity.of(2),
                                                    RequestPolicy.values(
                                                            Quantity.of(1),
                                                            List.of(Quantity.of(1)))))
                                    .build(),
                            Feature.LIST_ATTRIBUTES,
                            Device.builder("special")
                                    .attribute("nodes", new AttributeValue.OfInts(List.of(0L, 1L)))
                                    .build(),
                            Feature.ALLOCATABLE_MAPPINGS,
                            Device.builder("special").rawField(MAPPINGS, "{\"cpu\":{}}").build(),
                            Feature.ALLOCATABLE_RESOURCES,
                            Device.builder("special").rawField(RESOURCES, "{\"cpu\":{}}").build()));

    private final PublisherUnderTest under = new PublisherUnderTest();
    private final List<Content> everStored = new ArrayList<>();

    private static Taint taint(Effect effect) {
        return Taint.of("gpu.example.com/bad", null, effect);
    }

    @BeforeEach
    void rememberWhatWasEverVisible() {
        under.store.afterWrite =
                () -> under.store.slices.values().forEach(s -> everStored.add(s.content()));
    }

    private static Pool pool(Device... more) {
        List<Device> devices = new ArrayList<>(PublisherUnderTest.gpus(1));
        devices.addAll(List.of(more));
        boolean counts = devices.stream().anyMatch(Feature.COUNTERS::usedBy);
        Pool pool = Pool.ofNode("node-a", devices);
        return counts ? pool.withCounterSets(List.of(new CounterSet("set", ONE))) : pool;
    }

    private void serverLeavesOut(Feature feature) {
        if (feature == Feature.LIST_ATTRIBUTES) {
            // The list goes, and the attribute without a value is refused.
            under.store.refuses = content -> content.devices().stream().anyMatch(feature::usedBy);
        } else {
            under.store.keeps = content -> without(feature, content);
        }
    }

    private static Content without(Feature feature, Content content) {
        return new Content(
                content.pool(),
                content.generation(),
                content.sliceCount(),
                content.placement(),
                content.devices().stream().map(feature::without).toList(),
                feature == Feature.COUNTERS ? List.of() : content.counterSets());
    }

    private void serverKeepsAll() {
        under.store.refuses = null;
        under.store.keeps = content -> content;
    }

    @ParameterizedTest
    @EnumSource(Feature.class)
    void aServerThatKeepsAFeatureIsAskedOnce(Feature feature) throws Exception {
        under.start();
        under.publish(pool(DEVICES.get(feature)));
        under.publish(pool(DEVICES.get(feature), Device.builder("other").build()));

        assertThat(under.names("node-a")).contains("gpu-0", "special", "other");
        assertThat(under.store.questions).isEqualTo(1);
        assertThat(under.events).isEmpty();
        assertThat(under.isPublished()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = Feature.class,
            names = {"TAINTS", "COUNTERS", "BINDING_CONDITIONS"})
    void aDeviceThatWouldLoseItsGuardIsNeverVisible(Feature feature) throws Exception {
        serverLeavesOut(feature);
        under.start();
        under.publish(pool(DEVICES.get(feature)));

        assertThat(under.names("node-a")).containsExactly("gpu-0");
        assertThat(everStored)
                .noneMatch(
                        c ->
                                c.devices().stream()
                                        .anyMatch(d -> d.name().value().equals("special")));
        assertThat(under.events)
                .singleElement()
                .satisfies(
                        event -> {
                            assertThat(event.reason()).isEqualTo(Reason.DEVICES_WITHDRAWN);
                            assertThat(event.message())
                                    .contains("pool node-a", "special", feature.gate());
                        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Feature.class,
            names = {"MULTIPLE_ALLOCATIONS", "LIST_ATTRIBUTES"})
    void aFeatureThatGuardsNothingIsLeftOut(Feature feature) throws Exception {
        serverLeavesOut(feature);
        under.start();
        under.publish(pool(DEVICES.get(feature)));

        assertThat(under.devices("node-a")).hasSize(2).noneMatch(feature::usedBy);
        assertThat(under.events).isEmpty();
        assertThat(under.isPublished()).isTrue();
    }

    @Test
    void aTaintThatOnlyInformsIsLeftOut() {
        serverLeavesOut(Feature.TAINTS);
        under.start();
        under.publish(pool(Device.builder("special").taint(taint(Effect.NONE)).build()));

        assertThat(under.names("node-a")).containsExactly("gpu-0", "special");
        assertThat(under.events).isEmpty();
    }

    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void counterSetsThatNoDeviceConsumesAreLeftOutToo() throws Exception {
        serverLeavesOut(Feature.COUNTERS);
        under.start();
        under.publish(pool().withCounterSets(List.of(new CounterSet("set", ONE))));

        assertThat(under.names("node-a")).containsExactly("gpu-0");
        assertThat(under.store.slices).hasSize(1);
        assertThat(under.store.questions).isEqualTo(1);
        assertThat(under.isPublished()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Feature.class)
    void isAskedAgainAfterHalfAnHourBecauseGatesCanBeSwitchedOn(Feature feature) {
        serverLeavesOut(feature);
        under.start();
        under.publish(pool(DEVICES.get(feature)));
        under.loop.advance(Duration.ofMinutes(25));
        assertThat(under.store.questions).isEqualTo(1);
        under.store.writes.clear();

        serverKeepsAll();
        under.loop.advance(Duration.ofMinutes(20));

        assertThat(under.devices("node-a")).anyMatch(feature::usedBy);
        if (feature.guards(DEVICES.get(feature))) {
            assertThat(under.reasons())
                    .containsExactly(Reason.DEVICES_WITHDRAWN, Reason.PUBLISHING_RECOVERED);
        }
    }

    @ParameterizedTest
    @EnumSource(Feature.class)
    void aRestartWithoutAChangeAsksNothingAndWritesNothing(Feature feature) {
        under.start();
        under.publish(pool(DEVICES.get(feature)));
        Map<String, Stored> before = Map.copyOf(under.store.slices);
        under.publisher.close();
        under.store.questions = 0;

        under.loop = new ManualLoop();
        under.start();

        assertThat(under.store.questions).isZero();
        assertThat(under.store.slices).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(
            value = Feature.class,
            names = {"TAINTS", "COUNTERS", "BINDING_CONDITIONS"})
    void whatASliceKeepsFromBeforeTheGateWentOffProvesNothingForOthers(Feature feature)
            throws Exception {
        under.start();
        under.publish(pool(DEVICES.get(feature)));
        serverLeavesOut(feature);
        everStored.clear();

        Device late = DEVICES.get(feature);
        under.store.endWatches();
        under.publish(
                pool(
                        new Device(
                                new DeviceName("late"),
                                late.attributes(),
                                late.capacities(),
                                late.allowMultipleAllocations(),
                                late.consumesCounters(),
                                late.taints(),
                                late.placement(),
                                late.binding(),
                                late.bindsToNode(),
                                late.rawFields())));

        under.loop.advance(Duration.ofSeconds(5));
        assertThat(everStored)
                .isNotEmpty()
                .noneMatch(
                        c -> c.devices().stream().anyMatch(d -> d.name().value().equals("late")));
    }

    @ParameterizedTest
    @EnumSource(
            value = Feature.class,
            names = {"TAINTS", "COUNTERS", "BINDING_CONDITIONS"})
    void aGuardThatIsLostLaterWithdrawsTheDeviceAtOnce(Feature feature) throws Exception {
        under.start();
        under.publish(pool(DEVICES.get(feature)));
        serverLeavesOut(feature);

        under.publish(pool(DEVICES.get(feature), Device.builder("other").build()));

        assertThat(under.names("node-a")).containsExactly("gpu-0", "other");
        assertThat(under.reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
    }

    @Test
    void aServerThatTakesNoDryRunsIsBelievedUntilItLeavesSomethingOut() {
        under.store.questionFailure = Failures.status(400);
        under.start();
        under.publish(pool(DEVICES.get(Feature.TAINTS)));

        assertThat(under.names("node-a")).containsExactly("gpu-0", "special");
    }

    @Test
    void aQuestionThatFailsHoldsThePoolUp() throws Exception {
        under.store.questionFailure = Failures.status(503);
        under.start();
        under.publish(pool(DEVICES.get(Feature.TAINTS)));
        assertThat(under.names("node-a")).doesNotContain("special");

        under.store.questionFailure = null;
        under.loop.advance(Duration.ofSeconds(31));

        assertThat(under.names("node-a")).contains("special");
    }

    @Test
    void ofTwoShapesTheServersIsPublishedAndOnlyTheLossOfBothIsSaid() {
        Device both =
                Device.builder("numa-0")
                        .rawField(MAPPINGS, "{\"cpu\":{}}")
                        .rawField(RESOURCES, "{\"cpu\":{}}")
                        .build();
        Pool pool = Pool.ofNode("node-a", List.of(both));

        Publishable of136 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_RESOURCES));
        Publishable of137 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_MAPPINGS));
        Publishable off =
                Publishable.of(
                        pool,
                        EnumSet.of(Feature.ALLOCATABLE_MAPPINGS, Feature.ALLOCATABLE_RESOURCES));

        assertThat(of136.pool().devices().get(0).rawFields()).containsOnlyKeys(MAPPINGS);
        assertThat(of137.pool().devices().get(0).rawFields()).containsOnlyKeys(RESOURCES);
        assertThat(off.pool().devices().get(0).rawFields()).isEmpty();
        assertThat(List.of(of136, of137)).allMatch(one -> one.leftOut().isEmpty());
        assertThat(off.leftOut())
                .containsOnly(Map.entry(Feature.ALLOCATABLE_RESOURCES, List.of(both.name())));
    }
}
