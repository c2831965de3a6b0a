// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.validate.PoolRules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that leave out features in silence. */
class ServerFeaturesTest extends PublisherUnderTest {

    private static final String GUARDS = "TAINTS|COUNTERS|BINDING_CONDITIONS|COMPATIBILITY_GROUPS|AMOUNTS_BY_REQUEST";
    private static final String OF_DEVICES = "(?!PARTITION_TYPE|SKIP_NODE_OPERATIONS).*";
    private static final String MAPPINGS = "nodeAllocatableResourceMappings";
    private static final String RESOURCES = "nodeAllocatableResources";
    private static final Map<String, Quantity> ONE = Map.of("slots", Quantity.of(1));

    /** The fields of a device with a feature, which guards it where it can; those of pools are not there. */
    private static final Map<Feature, String> FIELDS = fields();

    private static Map<Feature, String> fields() {
        try (Stream<String> lines = Files.lines(
                Path.of("src/test/resources/io/dra4j/runtime/internal/publish/devices-with-features.txt"))) {
            return lines.map(line -> line.split(" \\| "))
                    .collect(Collectors.toMap(row -> Feature.valueOf(row[0]), row -> row[1]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Device with(Feature feature, String name) {
        String fields = FIELDS.get(feature);
        return fields == null
                ? taking(name, resource(Quantity.of(1), null, true))
                : ClaimDecoding.device("{\"name\":\"%s\",%s}".formatted(name, fields));
    }

    private static Device special(Feature feature) {
        return with(feature, "special");
    }

    @BeforeEach
    void remember() {
        store.kubernetesMinor = 37; // whose rules take all features
        rememberWhatWasEverVisible();
    }

    private static Pool pool(Device... more) {
        List<Device> devices = new ArrayList<>(gpus(1));
        devices.addAll(List.of(more));
        boolean counts = devices.stream().anyMatch(Feature.COUNTERS::usedBy);
        Pool pool = Pool.ofNode("node-a", devices);
        return counts ? pool.withCounterSets(List.of(CounterSet.of("set", ONE))) : pool;
    }

    private void serverLeavesOut(Feature feature) {
        if (feature == Feature.LIST_ATTRIBUTES || feature == Feature.FRACTIONAL_POLICIES) {
            // The list goes, and the attribute without a value is refused.
            store.refuses = content -> content.devices().stream().anyMatch(feature::usedBy);
        } else {
            store.keeps = content -> without(feature, content);
        }
    }

    private static Content without(Feature feature, Content content) {
        return new Content(
                content.pool(),
                content.generation(),
                content.sliceCount(),
                content.placement(),
                content.devices().stream().map(feature::without).toList(),
                feature == Feature.COUNTERS ? List.of() : content.counterSets(),
                feature == Feature.PARTITION_TYPE ? null : content.partitionTypeAttribute(),
                feature == Feature.SKIP_NODE_OPERATIONS ? List.of() : content.skipNodeOperations());
    }

    /** A device with groups consumes counters, too. */
    private static int questions(Feature feature) {
        Pool pool = Publishable.of(pool(special(feature)), Set.of()).pool();
        return (int) Stream.of(Feature.values()).filter(it -> it.usedBy(pool)).count();
    }

    private void serverKeepsAll() {
        store.refuses = null;
        store.keeps = content -> content;
    }

    @ParameterizedTest
    @EnumSource(names = OF_DEVICES, mode = EnumSource.Mode.MATCH_ANY)
    void aServerThatKeepsAFeatureIsAskedOnceAndNotAfterARestart(Feature feature) throws Exception {
        start(pool(special(feature)));
        publish(pool(special(feature), Device.builder("other").build()));

        assertThat(names("node-a")).contains("gpu-0", "special", "other");
        assertThat(store.questions).isEqualTo(questions(feature));
        assertThat(events).isEmpty();
        assertThat(isPublished()).isTrue();

        Map<String, Stored> before = Map.copyOf(store.slices);
        store.questions = 0;

        restart();

        assertThat(store.questions).isZero();
        assertThat(store.slices).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(names = GUARDS, mode = EnumSource.Mode.MATCH_ANY)
    void aDeviceThatWouldLoseItsGuardIsNeverVisible(Feature feature) throws Exception {
        serverLeavesOut(feature);
        start(pool(special(feature)));

        assertThat(names("node-a")).containsExactly("gpu-0");
        assertThat(everStored)
                .noneMatch(
                        c -> c.devices().stream().anyMatch(d -> d.name().value().equals("special")));
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.reason()).isEqualTo(Reason.DEVICES_WITHDRAWN);
            assertThat(event.message())
                    .contains("pool node-a", "special", feature.gate().name());
        });
    }

    /** So the publisher need not know which gates are off to know what a server refuses. */
    @ParameterizedTest
    @EnumSource
    void whatIsSentWithoutAFeatureBreaksNoRuleWithItsGateOff(Feature feature) {
        Pool sent = Publishable.of(pool(special(feature)), EnumSet.of(feature)).pool();
        FeatureGate gate = feature.gate().gate();
        KubernetesVersion newest = KubernetesVersion.newest();
        FeatureGates off = new FeatureGates(newest, gate.isLockedIn(newest) ? Map.of() : Map.of(gate, false));
        PoolRules rules = new PoolRules("d.example", new SliceCodec("d.example", "node-a")::refusals);

        assertThat(rules.refusals(sent, off, device -> List.of()).problems()).isEmpty();
    }

    /** The fields of KEP-5941 have no types yet. */
    @Test
    void amountsByRequestAreRawFields() throws Exception {
        Pool pool = Pool.ofNode(
                        "node-a", List.of(function("vf-0", "{ \"valueFrom\": { \"capacityName\": \"d.example/b\" } }")))
                .withCounterSets(List.of(CounterSet.builder("pf-0")
                        .counter("b", "100G")
                        .rawFields("b", "{\"requestPolicy\":{\"default\":\"1G\"}}")
                        .build()));
        start(pool);
        int writes = store.writes.size();
        store.endWatches();
        loop.advance(SOON);

        assertThat(store.writes).as("it compares equal").hasSize(writes);
        assertThat(store.slices.values())
                .extracting(slice -> new SliceCodec("d.example", "node-a").json(slice.content()))
                .anyMatch(json -> json.contains("{\"b\":{\"valueFrom\":{\"capacityName\":\"d.example/b\"}}}"))
                .anyMatch(json -> json.contains("{\"b\":{\"requestPolicy\":{\"default\":\"1G\"},\"value\":\"100G\"}}"));

        publish(pool.toBuilder().device(function("vf-1", "{\"value\":\"1\"}")).build());
        assertThat(events)
                .extracting(event -> event.message())
                .anyMatch(text -> text.contains("vf-1") && text.contains("must be a JSON object without an amount"));
    }

    private static Device function(String name, String json) {
        return Device.builder(name)
                .consumes(
                        CounterConsumption.builder("pf-0").rawFields("b", json).build())
                .build();
    }

    @ParameterizedTest
    @EnumSource(names = OF_DEVICES, mode = EnumSource.Mode.MATCH_ANY)
    void isAskedAgainAfterHalfAnHourBecauseGatesCanBeSwitchedOn(Feature feature) {
        serverLeavesOut(feature);
        start(pool(special(feature)));
        loop.advance(Duration.ofMinutes(25));
        assertThat(store.questions).isEqualTo(questions(feature));
        store.writes.clear();

        serverKeepsAll();
        loop.advance(Duration.ofMinutes(20));

        assertThat(devices("node-a")).anyMatch(feature::usedBy);
        if (feature.guards(special(feature))) {
            assertThat(reasons()).containsExactly(Reason.DEVICES_WITHDRAWN, Reason.PUBLISHING_RECOVERED);
        }
    }

    @ParameterizedTest
    @EnumSource(names = GUARDS, mode = EnumSource.Mode.MATCH_ANY)
    void whatASliceKeepsFromBeforeTheGateWentOffProvesNothingForOthers(Feature feature) throws Exception {
        start(pool(special(feature)));
        serverLeavesOut(feature);
        everStored.clear();

        store.endWatches();
        publish(pool(with(feature, "late")));

        loop.advance(Duration.ofSeconds(5));
        assertThat(everStored)
                .isNotEmpty()
                .noneMatch(
                        c -> c.devices().stream().anyMatch(d -> d.name().value().equals("late")));
    }

    @ParameterizedTest
    @EnumSource(names = GUARDS, mode = EnumSource.Mode.MATCH_ANY)
    void aGuardThatIsLostLaterWithdrawsTheDeviceAtOnce(Feature feature) throws Exception {
        start(pool(special(feature)));
        serverLeavesOut(feature);

        publish(pool(special(feature), Device.builder("other").build()));

        assertThat(names("node-a")).containsExactly("gpu-0", "other");
        assertThat(reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
    }

    @Test
    void aPoolThatCanNotSkipNodeOperationsHasNoDevice() throws Exception {
        Pool skipping = pool().toBuilder().skipNodeOperation(NodeOperation.ALL).build();
        start(skipping);
        assertThat(names("node-a")).containsExactly("gpu-0");
        assertThat(content().skipNodeOperations()).containsExactly("*");

        serverLeavesOut(Feature.SKIP_NODE_OPERATIONS);
        store.endWatches();
        publish(skipping.toBuilder().device(Device.builder("late").build()).build());

        assertThat(names("node-a")).isEmpty();
        assertThat(reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
        assertThat(events.get(0).message())
                .contains("gpu-0, late", "node operations to skip", "DRAOptionalNodeOperations");
    }

    @Test
    void aPoolThatLosesItsPartitionTypesKeepsItsDevices() throws Exception {
        Device part = with(Feature.COUNTERS, "part").toBuilder()
                .attribute("p.io/t", "a")
                .build();
        Pool typed = pool(part).toBuilder().partitionTypeAttribute("p.io/t").build();
        start(typed);
        assertThat(store.slices.values())
                .map(slice -> slice.content().partitionTypeAttribute())
                .containsOnlyOnce("p.io/t");

        serverLeavesOut(Feature.PARTITION_TYPE);
        store.endWatches();
        publish(typed.toBuilder().device(Device.builder("late").build()).build());

        assertThat(names("node-a")).containsExactly("gpu-0", "part", "late");
        assertThat(events).isEmpty();
        assertThat(Publishable.of(typed, EnumSet.of(Feature.PARTITION_TYPE)).leftOut())
                .containsOnly(Map.entry(Feature.PARTITION_TYPE, List.of(part.name())));
    }

    private Content content() {
        return store.slices.values().iterator().next().content();
    }

    @Test
    void aResourceIsWithheldUnlessItMayBeLeftOut() {
        Device overhead = taking("overhead", resource(null, Quantity.of(1), false));
        Device mapping = taking("mapping", resource(Quantity.of(2), null, false));
        Device optional = taking("optional", resource(Quantity.of(2), Quantity.of(1), true));
        Pool pool = Pool.ofNode("node-a", List.of(overhead, mapping, optional));

        Publishable of136 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_RESOURCES));
        Publishable of137 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_MAPPINGS));
        Publishable off = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_MAPPINGS, Feature.ALLOCATABLE_RESOURCES));

        assertThat(of136.pool().devices()).extracting(Device::name).doesNotContain(overhead.name());
        assertThat(of136.pool().devices())
                .hasSize(2)
                .allMatch(device -> device.rawFields().keySet().equals(Set.of(MAPPINGS)));
        assertThat(of136.leftOut()).containsOnly(Map.entry(Feature.ALLOCATABLE_RESOURCES, List.of(optional.name())));
        assertThat(of137.pool().devices())
                .hasSize(3)
                .allMatch(device -> device.rawFields().keySet().equals(Set.of(RESOURCES)));
        assertThat(off.withdrawn())
                .containsOnly(Map.entry(Feature.ALLOCATABLE_RESOURCES, List.of(overhead.name(), mapping.name())));
        assertThat(off.pool().devices())
                .singleElement()
                .satisfies(device -> assertThat(device.rawFields()).isEmpty());
    }

    private static NodeAllocatableResource resource(
            @Nullable Quantity mapping, @Nullable Quantity perPod, boolean mayBeLeftOut) {
        return NodeAllocatableResource.builder()
                .mapping(mapping == null ? null : new OfDevice(mapping))
                .overhead(perPod == null ? null : new Overhead(perPod, null))
                .mayBeLeftOut(mayBeLeftOut)
                .build();
    }

    private static Device taking(String name, NodeAllocatableResource resource) {
        return Device.builder(name).nodeAllocatableResource("cpu", resource).build();
    }

    @Test
    void ofTwoShapesTheServersIsPublishedAndOnlyTheLossOfBothIsSaid() {
        Device both = Device.builder("numa-0")
                .rawField(MAPPINGS, "{\"cpu\":{}}")
                .rawField(RESOURCES, "{\"cpu\":{}}")
                .build();
        Pool pool = Pool.ofNode("node-a", List.of(both));

        Publishable of136 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_RESOURCES));
        Publishable of137 = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_MAPPINGS));
        Publishable off = Publishable.of(pool, EnumSet.of(Feature.ALLOCATABLE_MAPPINGS, Feature.ALLOCATABLE_RESOURCES));

        assertThat(of136.pool().devices().get(0).rawFields()).containsOnlyKeys(MAPPINGS);
        assertThat(of137.pool().devices().get(0).rawFields()).containsOnlyKeys(RESOURCES);
        assertThat(off.pool().devices().get(0).rawFields()).isEmpty();
        assertThat(List.of(of136, of137)).allMatch(one -> one.leftOut().isEmpty());
        assertThat(off.leftOut()).containsOnly(Map.entry(Feature.ALLOCATABLE_RESOURCES, List.of(both.name())));
    }
}
