// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static io.dra4j.rules.FeatureGate.DRA_CONSUMABLE_CAPACITY;
import static io.dra4j.rules.FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES;
import static io.dra4j.rules.FeatureGate.DRA_PARTITIONABLE_DEVICES;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

    private static final Path FILE = Path.of("src/test/resources/io/dra4j/runtime/publishing/gated-pools.txt");
    private static final List<Kind> KINDS = kinds();

    /**
     * A pool of one device that a gate decides about, and one plain one.
     *
     * @param field that the gate decides about, below the spec of a slice
     * @param otherwise the result without the gate
     * @param fields of the device, in JSON; "-" for none
     */
    record Kind(String pool, FeatureGate gate, String field, Result otherwise, String fields) {

        static Kind of(String row) {
            String[] cells = row.split(" \\| ", 5);
            return new Kind(cells[0], FeatureGate.valueOf(cells[1]), cells[2], Result.valueOf(cells[3]), cells[4]);
        }

        /** A pool whose last device has it. */
        Pool inventory() {
            Device special =
                    ClaimDecoding.device("{\"name\":\"special\"%s}".formatted(fields.equals("-") ? "" : "," + fields));
            Pool.Builder inventory = Pool.builder(pool)
                    .device(Device.builder("plain").build())
                    .device(allocatable(special.toBuilder().attribute("guarded", true))
                            .build());
            if (pool.equals("skips")) {
                inventory.skipNodeOperation(NodeOperation.ALL);
            } else if (pool.equals("type")) {
                inventory.partitionTypeAttribute("a.example/type");
            }
            return consumes()
                    ? inventory
                            .counterSet(CounterSet.of("set", Map.of("slots", Quantity.of(4))))
                            .build()
                    : inventory.build();
        }

        private boolean isAllocatable() {
            return gate == DRA_NODE_ALLOCATABLE_RESOURCES;
        }

        /** Adds what has a shape of its own in each release. */
        private Device.Builder allocatable(Device.Builder device) {
            Quantity one = Quantity.of(1);
            NodeAllocatableResource.Builder resource = NodeAllocatableResource.builder()
                    .mapping(new NodeAllocatableResource.OfDevice(one))
                    .mayBeLeftOut(otherwise == Result.WITHOUT_IT);
            if (pool.equals("overhead")) {
                resource.overhead(new NodeAllocatableResource.Overhead(one, null));
            }
            return isAllocatable() ? device.nodeAllocatableResource("cpu", resource.build()) : device;
        }

        boolean consumes() {
            return fields.contains("consumesCounters");
        }

        /** Returns the result in a cluster of a release with some gates. */
        Result expected(KubernetesVersion release, Set<FeatureGate> on) {
            if (consumes() && !on.contains(DRA_PARTITIONABLE_DEVICES)) {
                return Result.WITHHELD;
            }
            boolean tooOld = pool.equals("overhead") && !release.atLeast(KubernetesVersion.V1_37);
            boolean unshared = pool.equals("fractions") && !on.contains(DRA_CONSUMABLE_CAPACITY);
            return on.contains(gate) && !tooOld && !unshared ? Result.PUBLISHED : otherwise;
        }

        boolean isIn(JsonNode spec, JsonNode device) {
            if (isAllocatable() && !pool.equals("overhead")) {
                return device.at("/nodeAllocatableResources/cpu/mapping").isObject()
                        || device.at("/nodeAllocatableResourceMappings/cpu").isObject();
            }
            return field.startsWith("devices/*/")
                    ? !device.at(field.substring("devices/*".length())).isMissingNode()
                    : !spec.at("/" + field).isMissingNode();
        }
    }

    private static List<Kind> kinds() {
        try {
            return Files.readAllLines(FILE).stream().map(Kind::of).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
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
                        KINDS.stream()
                                .map(Kind::gate)
                                .distinct()
                                .filter(gate -> gate.existsIn(release) && !gate.isLockedIn(release))
                                .map(gate -> new Cluster(release, gate))));
    }

    @ParameterizedTest
    @MethodSource("clusters")
    void eachPoolIsPublishedWithheldAndReported(Cluster cluster) throws Exception {
        Pool[] pools = KINDS.stream().map(Kind::inventory).toArray(Pool[]::new);
        try (EmbeddedApiServer api = cluster.start();
                PublishingDriver driver = PublishingDriver.start(api, pools)) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            Set<String> withheld = new HashSet<>();
            for (Kind kind : KINDS) {
                Result expected = kind.expected(cluster.release(), cluster.on());
                assertThat(result(driver, kind)).as("%s", kind).isEqualTo(expected);
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
            try (OpenHealthStream health = kubelet.watchHealth(PublishingDriver.DRIVER)) {
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

            assertThat(driver.slices("roaming")).isEmpty();
        }
    }
}
