// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static io.dra4j.rules.FeatureGate.DRA_CONSUMABLE_CAPACITY;
import static io.dra4j.rules.FeatureGate.DRA_DEVICE_BINDING_CONDITIONS;
import static io.dra4j.rules.FeatureGate.DRA_DEVICE_COMPATIBILITY_GROUPS;
import static io.dra4j.rules.FeatureGate.DRA_DEVICE_TAINTS;
import static io.dra4j.rules.FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE;
import static io.dra4j.rules.FeatureGate.DRA_LIST_TYPE_ATTRIBUTES;
import static io.dra4j.rules.FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES;
import static io.dra4j.rules.FeatureGate.DRA_OPTIONAL_NODE_OPERATIONS;
import static io.dra4j.rules.FeatureGate.DRA_PARTITIONABLE_DEVICES;
import static io.dra4j.rules.FeatureGate.DRA_PARTITIONABLE_DEVICES_TYPE;
import static io.dra4j.rules.FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.HealthWatch;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each release, with all its gates on and with each of them off: what becomes of each pool. */
@Tag("slow")
class ReleasesAndGatesIT {

    private static final Quantity ONE = Quantity.of(1);
    private static final NodeAllocatableResource MAPPING = NodeAllocatableResource.builder()
            .mapping(new NodeAllocatableResource.OfDevice(ONE))
            .build();

    /** A pool of one device that a gate decides about, and one plain one. */
    enum Kind {
        TAINT(
                DRA_DEVICE_TAINTS,
                "devices/*/taints/0/effect",
                it -> it.taint(Taint.of("a", null, Taint.Effect.NO_SCHEDULE))),
        TAINT_THAT_INFORMS(
                DRA_DEVICE_TAINTS, "devices/*/taints/0", it -> it.taint(Taint.of("a", null, Taint.Effect.NONE))),
        COUNTERS(
                DRA_PARTITIONABLE_DEVICES,
                "devices/*/consumesCounters/0/counterSet",
                it -> it.consumes(consumption().build())),
        BINDING(
                DRA_DEVICE_BINDING_CONDITIONS,
                "devices/*/bindingConditions/0",
                it -> it.binding(new BindingConditions(list("a"), list("b")))),
        BINDS_TO_NODE(DRA_DEVICE_BINDING_CONDITIONS, "devices/*/bindsToNode", it -> it.bindsToNode(true)),
        SHARES(DRA_CONSUMABLE_CAPACITY, "devices/*/allowMultipleAllocations", it -> it.allowMultipleAllocations(true)),
        REQUEST_POLICY(
                DRA_CONSUMABLE_CAPACITY,
                "devices/*/capacity/share/requestPolicy",
                it -> it.allowMultipleAllocations(true)
                        .capacity("share", new Capacity(ONE, RequestPolicy.values(ONE, List.of(ONE))))),
        FRACTIONS(
                DRA_FRACTIONAL_CAPACITY_RANGE,
                "devices/*/capacity/share/requestPolicy/validRange/step",
                it -> it.allowMultipleAllocations(true).capacity("share", fractional())),
        LIST(
                DRA_LIST_TYPE_ATTRIBUTES,
                "devices/*/attributes/list/strings/0",
                it -> it.attribute("list", new AttributeValue.OfStrings(list("a")))),
        MAPPING_OR_NOT(
                DRA_NODE_ALLOCATABLE_RESOURCES,
                "devices/*",
                it -> it.nodeAllocatableResource(
                        "cpu", MAPPING.toBuilder().mayBeLeftOut(true).build())),
        MAPPED(DRA_NODE_ALLOCATABLE_RESOURCES, "devices/*", it -> it.nodeAllocatableResource("cpu", MAPPING)),
        OVERHEAD(
                DRA_NODE_ALLOCATABLE_RESOURCES,
                "devices/*/nodeAllocatableResources/cpu/overhead/perPod",
                it -> it.nodeAllocatableResource(
                        "cpu",
                        MAPPING.toBuilder()
                                .overhead(new NodeAllocatableResource.Overhead(ONE, null))
                                .build())),
        GROUPS(
                DRA_DEVICE_COMPATIBILITY_GROUPS,
                "devices/*/consumesCounters/0/compatibilityGroups/0",
                it -> it.consumes(consumption().compatibilityGroup("even").build())),
        BY_REQUEST(
                DRA_SHARED_CONSUMABLE_CAPACITY,
                "devices/*/consumesCounters/0/counters/slots/valueFrom/capacityName",
                it -> it.allowMultipleAllocations(true)
                        .capacity("share", new Capacity(ONE, null))
                        .consumes(CounterConsumption.builder("set")
                                .rawFields("slots", "{\"valueFrom\":{\"capacityName\":\"share\"}}")
                                .build())),
        TYPE(
                DRA_PARTITIONABLE_DEVICES_TYPE,
                "partitionTypeAttribute",
                it -> it.consumes(consumption().build()).attribute("a.example/type", "half")),
        SKIPS(DRA_OPTIONAL_NODE_OPERATIONS, "skipNodeOperations/0", it -> it);

        private static final Set<Kind> LEFT_OUT = EnumSet.of(
                TAINT_THAT_INFORMS, BINDS_TO_NODE, SHARES, REQUEST_POLICY, FRACTIONS, LIST, MAPPING_OR_NOT, TYPE);

        final FeatureGate gate;
        final String field;
        private final UnaryOperator<Device.Builder> add;

        Kind(FeatureGate gate, String field, UnaryOperator<Device.Builder> add) {
            this.gate = gate;
            this.field = field;
            this.add = add;
        }

        String pool() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** A pool whose last device has it. */
        Pool inventory() {
            Device.Builder special = Device.builder("special").attribute("guarded", true);
            Pool.Builder pool = Pool.builder(pool())
                    .device(Device.builder("plain").build())
                    .device(add.apply(special).build());
            if (this == SKIPS) {
                pool.skipNodeOperation(NodeOperation.ALL);
            } else if (this == TYPE) {
                pool.partitionTypeAttribute("a.example/type");
            }
            return consumes() ? pool.counterSet(set()).build() : pool.build();
        }

        boolean consumes() {
            return this == COUNTERS || this == GROUPS || this == BY_REQUEST || this == TYPE;
        }

        /** Returns the result in a cluster of a release with some gates. */
        Result expected(KubernetesVersion release, Set<FeatureGate> on) {
            if (consumes() && !on.contains(DRA_PARTITIONABLE_DEVICES)) {
                return Result.WITHHELD;
            }
            boolean tooOld = this == OVERHEAD && !release.atLeast(KubernetesVersion.V1_37);
            boolean unshared = this == FRACTIONS && !on.contains(DRA_CONSUMABLE_CAPACITY);
            if (on.contains(gate) && !tooOld && !unshared) {
                return Result.PUBLISHED;
            }
            return LEFT_OUT.contains(this) ? Result.WITHOUT_IT : Result.WITHHELD;
        }

        boolean isIn(JsonNode spec, JsonNode device) {
            if (this == MAPPED || this == MAPPING_OR_NOT) {
                return device.at("/nodeAllocatableResources/cpu/mapping").isObject()
                        || device.at("/nodeAllocatableResourceMappings/cpu").isObject();
            }
            return field.startsWith("devices/*/")
                    ? !device.at(field.substring("devices/*".length())).isMissingNode()
                    : !spec.at("/" + field).isMissingNode();
        }
    }

    enum Result {
        PUBLISHED,
        WITHOUT_IT,
        WITHHELD
    }

    record Cluster(KubernetesVersion release, @Nullable FeatureGate off) {
        Set<FeatureGate> on() {
            Set<FeatureGate> on = EnumSet.allOf(FeatureGate.class);
            on.removeIf(gate -> !gate.existsIn(release) || gate == off);
            return on;
        }

        EmbeddedApiServer start() {
            EmbeddedApiServer.Builder server =
                    EmbeddedApiServer.builder().version(release).node(PublishingDriver.NODE);
            for (FeatureGate gate : FeatureGate.values()) {
                if (gate.existsIn(release) && !gate.isLockedIn(release)) {
                    server.featureGate(gate, gate != off);
                }
            }
            return server.start();
        }
    }

    static Stream<Cluster> clusters() {
        return Stream.of(KubernetesVersion.values())
                .flatMap(release -> Stream.concat(
                        Stream.of(new Cluster(release, null)),
                        Stream.of(Kind.values())
                                .map(kind -> kind.gate)
                                .distinct()
                                .filter(gate -> gate.existsIn(release) && !gate.isLockedIn(release))
                                .map(gate -> new Cluster(release, gate))));
    }

    private static List<String> list(String one) {
        return List.of(one);
    }

    private static CounterSet set() {
        return CounterSet.of("set", Map.of("slots", Quantity.of(4)));
    }

    private static CounterConsumption.Builder consumption() {
        return CounterConsumption.builder("set").counter("slots", 1);
    }

    private static Capacity fractional() {
        Quantity step = new Quantity("1500m");
        return new Capacity(
                Quantity.of(3), RequestPolicy.range(step, new ValidRange(Quantity.of(0), Quantity.of(3), step)));
    }

    @ParameterizedTest
    @MethodSource("clusters")
    void eachPoolIsPublishedWithheldAndReported(Cluster cluster) throws Exception {
        Pool[] pools = Stream.of(Kind.values()).map(kind -> kind.inventory()).toArray(Pool[]::new);
        try (EmbeddedApiServer api = cluster.start();
                PublishingDriver driver = PublishingDriver.start(api, pools)) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            SliceHistory history = SliceHistory.of(api);
            Set<String> withheld = new HashSet<>();
            for (Kind kind : Kind.values()) {
                Result expected = kind.expected(cluster.release(), cluster.on());
                assertThat(result(driver, kind)).as("%s", kind).isEqualTo(expected);
                assertThat(history.specs(kind.pool()))
                        .as("%s, at any moment", kind)
                        .isNotEmpty()
                        .allSatisfy(
                                spec -> assertThat(result(spec, kind)).isIn(Optional.empty(), Optional.of(expected)));
                if (expected == Result.WITHHELD) {
                    withheld.add(kind.pool());
                }
            }
            assertThat(reported(driver, withheld)).isEqualTo(withheld);
            assertThat(driver.refused()).filteredOn(RecordedRequest::write).isEmpty();
        }
    }

    /** In 1.34 a device that consumes counters has a slice without the plain one. */
    private static Result result(PublishingDriver driver, Kind kind) {
        return driver.slices(kind.pool()).stream()
                .flatMap(slice -> result(slice.path("spec"), kind).stream())
                .findFirst()
                .orElse(Result.WITHHELD);
    }

    /** Returns how a slice has the device; empty if it has not. */
    private static Optional<Result> result(JsonNode spec, Kind kind) {
        for (JsonNode device : spec.path("devices")) {
            if (device.at("/attributes/guarded/bool").asBoolean()) {
                return Optional.of(kind.isIn(spec, device) ? Result.PUBLISHED : Result.WITHOUT_IT);
            }
        }
        return Optional.empty();
    }

    /** Returns the pools that the host heard of, which happens on a thread of its own. */
    private static Set<String> reported(PublishingDriver driver, Set<String> expected) throws InterruptedException {
        Set<String> pools = new HashSet<>();
        while (!pools.containsAll(expected)) {
            pools.add(driver.awaitProblem(" are withdrawn").split("pool ", 2)[1].split(" ")[0]);
        }
        driver.problems.forEach(more -> pools.add(more.getMessage()));
        return pools;
    }

    /** Kubelets may be up to three minor releases older than the server; after its downgrade they are newer. */
    @ParameterizedTest
    @CsvSource({"34, V1_37", "35, V1_38", "36, V1_38", "37, V1_38", "38, V1_38", "38, V1_37", "38, V1_35", "34, V1_38"})
    void aKubeletOfAnotherReleaseThanTheServersIsServed(int kubeletMinor, KubernetesVersion server) throws Exception {
        Pool pool = Pool.ofNode(
                PublishingDriver.NODE, List.of(Device.builder("gpu-0").build()));
        try (EmbeddedApiServer api = EmbeddedApiServer.builder()
                        .version(server)
                        .node(PublishingDriver.NODE)
                        .start();
                PublishingDriver driver = PublishingDriver.start(api, pool);
                FakeKubelet kubelet = FakeKubelet.builder(driver.place.registry())
                        .release(kubeletMinor)
                        .start()) {
            assertThat(driver.awaitPublished()).isTrue();
            assertThat(kubelet.awaitRegistered(PublishingDriver.DRIVER, PublishingDriver.TIMEOUT))
                    .isTrue();
            List<KubeletClaim> claims = List.of(claim(api));

            assertThat(kubelet.prepare(PublishingDriver.DRIVER, claims).complaint())
                    .isEmpty();
            assertThat(kubelet.unprepare(PublishingDriver.DRIVER, claims).complaint())
                    .isEmpty();
            try (HealthWatch health = kubelet.watchHealth(PublishingDriver.DRIVER)) {
                assertThat(health.await(report -> !report.state("gpu-0").isEmpty(), PublishingDriver.TIMEOUT))
                        .as("ended: %s", health.end())
                        .isPresent();
            }
        }
    }

    private static KubeletClaim claim(EmbeddedApiServer api) {
        ManifestObjects.putText("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {namespace: ml, name: train}
                spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
                status:
                  allocation: {devices: {results: [{request: gpu, driver: %s, pool: %s, device: gpu-0}]}}
                """.formatted(PublishingDriver.DRIVER, PublishingDriver.NODE), api.store());
        JsonNode stored = api.store().find("resourceclaims", "ml", "train").orElseThrow();
        return new KubeletClaim("ml", "train", stored.at("/metadata/uid").asText());
    }

    @Test
    void aPoolWhosePlacementTheServerDropsHoldsUpItselfAlone() throws Exception {
        Pool perDevice = Pool.builder("roaming")
                .placement(new Placement.PerDevice())
                .device(Device.builder("special")
                        .placement(new Placement.AllNodes())
                        .build())
                .build();
        Pool other = Pool.ofNode("zz", List.of(Device.builder("first").build()));
        try (EmbeddedApiServer api = new Cluster(KubernetesVersion.V1_36, DRA_PARTITIONABLE_DEVICES).start();
                PublishingDriver driver = PublishingDriver.start(api, perDevice, other)) {
            driver.awaitProblem("roaming");
            api.store()
                    .awaitObject(
                            PublishingDriver.SLICES,
                            slice -> slice.at("/spec/devices/0/name").asText().equals("first"),
                            PublishingDriver.TIMEOUT);

            assertThat(SliceHistory.of(api).specs("roaming")).isEmpty();
        }
    }

    /** Every state that a slice had until now, as a watch from the beginning tells them. */
    private record SliceHistory(List<JsonNode> specs) {

        private static final ObjectMapper JSON = new ObjectMapper();
        private static final String LAST = """
                {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
                 "metadata":{"name":"last","annotations":{"time":"%d"}},
                 "spec":{"driver":"last.example.com","nodeName":"node-1",
                  "pool":{"name":"last","generation":1,"resourceSliceCount":1}}}
                """;

        static SliceHistory of(EmbeddedApiServer api) throws IOException, InterruptedException {
            JsonNode last = api.store().put(JSON.readTree(LAST.formatted(System.nanoTime())));
            String end = last.at("/metadata/resourceVersion").asText();
            HttpRequest watch = HttpRequest.newBuilder(URI.create(api.url()
                            + "/apis/resource.k8s.io/v1/resourceslices"
                            + "?watch=true&timeoutSeconds=30&resourceVersion=1"))
                    .build();
            List<JsonNode> specs = new ArrayList<>();
            try (Stream<String> events = HttpClient.newHttpClient()
                    .send(watch, HttpResponse.BodyHandlers.ofLines())
                    .body()) {
                events.map(SliceHistory::object)
                        .takeWhile(
                                o -> !o.at("/metadata/resourceVersion").asText().equals(end))
                        .forEach(object -> specs.add(object.path("spec")));
            }
            return new SliceHistory(specs);
        }

        private static JsonNode object(String event) {
            try {
                JsonNode read = JSON.readTree(event);
                if (read.path("type").asText().equals("ERROR")) {
                    throw new AssertionError("the history is incomplete: " + event);
                }
                return read.path("object");
            } catch (JsonProcessingException e) {
                throw new AssertionError("the history is unreadable: " + event, e);
            }
        }

        List<JsonNode> specs(String pool) {
            return specs.stream()
                    .filter(spec -> spec.at("/pool/name").asText().equals(pool))
                    .toList();
        }
    }
}
