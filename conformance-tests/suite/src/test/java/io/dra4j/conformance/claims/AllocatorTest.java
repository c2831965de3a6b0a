// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices that claims of a shape get. */
class AllocatorTest {

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final String DRIVER = "gpu.example.com";
    private static final String CLASS = """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: gpu}
            spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
            """;

    @TempDir
    private Path folder;

    private static JsonNode yaml(String text) {
        try {
            return YAML.readTree(text);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Eight devices, of which two at a time hang at one root. */
    private static List<Candidate> eight() {
        return IntStream.range(0, 8)
                .mapToObj(i -> device("""
                                        name: gpu-%d
                                        attributes:
                                          index: {int: %d}
                                          resource.kubernetes.io/pcieRoot: {string: root-%d}
                                        capacity: {memory: {value: %dGi}}
                                        """.formatted(i, i, i % 4, 10 * (i + 1))))
                .toList();
    }

    private static Candidate device(String text) {
        return new Candidate(DRIVER, "pool", yaml(text));
    }

    private static ClaimTemplates claims(String devices) {
        return ClaimTemplates.read(List.of(yaml(CLASS), yaml("""
                                apiVersion: resource.k8s.io/v1
                                kind: ResourceClaim
                                metadata: {name: some}
                                spec: {devices: %s}
                                """.formatted(devices))));
    }

    private static List<List<String>> names(ClaimTemplates claims, List<Candidate> devices) {
        return new Allocator(devices, Map.of())
                .allocate(claims).stream()
                        .map(a -> a.devices().stream().map(Candidate::name).toList())
                        .toList();
    }

    /** Claims with one request of the class, and more about it. */
    private static ClaimTemplates gpus(String more) {
        return claims("{requests: [{name: a, exactly: {deviceClassName: gpu, %s}}]}".formatted(more));
    }

    /** Claims whose devices have roots that fit a constraint. */
    private static ClaimTemplates gpus(int count, String constraint) {
        return claims(
                "{requests: [{name: a, exactly: {deviceClassName: gpu, count: %d}}], constraints: [{%s: resource.kubernetes.io/pcieRoot}]}"
                        .formatted(count, constraint));
    }

    @Test
    void aCountTakesThatManyAndTheNextClaimTheNext() {
        assertThat(names(gpus("count: 3"), eight()))
                .containsExactly(List.of("gpu-0", "gpu-1", "gpu-2"), List.of("gpu-3", "gpu-4", "gpu-5"));
    }

    @Test
    void allTakesAllThatMatchAndNothingIfOneIsTainted() {
        ClaimTemplates all = gpus("allocationMode: All");
        List<Candidate> tainted =
                List.of(eight().get(0), device("{name: bad, taints: [{key: a, effect: NoSchedule}]}"));

        assertThat(names(all, eight())).hasSize(1);
        assertThat(names(all, eight()).get(0)).hasSize(8);
        assertThat(names(all, tainted)).isEmpty();
    }

    @Test
    void constraintsFindPairsAcrossTheOrder() {
        assertThat(names(gpus(2, "matchAttribute"), eight()))
                .hasSize(4)
                .startsWith(List.of("gpu-0", "gpu-4"), List.of("gpu-1", "gpu-5"));
        assertThat(names(gpus(4, "distinctAttribute"), eight()))
                .containsExactly(
                        List.of("gpu-0", "gpu-1", "gpu-2", "gpu-3"), List.of("gpu-4", "gpu-5", "gpu-6", "gpu-7"));
    }

    @Test
    void theFirstAlternativeThatFitsIsTaken() {
        String big = "selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].index > %d'}}]";
        ClaimTemplates claims = claims(
                "{requests: [{name: a, firstAvailable: [{name: none, deviceClassName: gpu, %s}, {name: last, deviceClassName: gpu, %s}]}]}"
                        .formatted(big.formatted(7), big.formatted(6)));

        List<Allotment> all = new Allocator(eight(), Map.of()).allocate(claims);

        assertThat(all).hasSize(1);
        assertThat(all.get(0).results().get(0).path("request").asText()).isEqualTo("a/last");
    }

    @Test
    void countersAreNotOverdrawn() {
        String part = "{name: %s, consumesCounters: [{counterSet: set, counters: {memory: {value: %s}}}]}";
        List<Candidate> parts = List.of(
                device(part.formatted("a", "6Gi")),
                device(part.formatted("b", "3Gi")),
                device(part.formatted("c", "2Gi")));
        ClaimTemplates one = claims("{requests: [{name: a, exactly: {deviceClassName: gpu}}]}");

        List<Allotment> all =
                new Allocator(parts, Map.of("pool/set/memory", BigDecimal.valueOf(8L << 30))).allocate(one);

        assertThat(all).extracting(a -> a.devices().get(0).name()).containsExactly("a", "c");
    }

    @Test
    void configurationsOfTheClassComeBeforeThoseOfTheClaim() {
        ClaimTemplates claims = ClaimTemplates.read(List.of(yaml("""
                                        apiVersion: resource.k8s.io/v1
                                        kind: DeviceClass
                                        metadata: {name: gpu}
                                        spec: {config: [{opaque: {driver: d, parameters: {a: 1}}}]}
                                        """), yaml("""
                                        apiVersion: resource.k8s.io/v1beta1
                                        kind: ResourceClaimTemplate
                                        metadata: {name: t}
                                        spec:
                                          spec:
                                            devices:
                                              requests: [{name: r, deviceClassName: gpu}]
                                              config: [{requests: [r], opaque: {driver: d, parameters: {b: 2}}}]
                                        """)));

        Allotment first = new Allocator(eight(), Map.of()).allocate(claims).get(0);

        assertThat(first.configs())
                .containsExactly(
                        yaml("{source: FromClass, requests: [r], opaque: {driver: d, parameters: {a: 1}}}"),
                        yaml("{source: FromClaim, requests: [r], opaque: {driver: d, parameters: {b: 2}}}"));
        assertThat(first.spec().at("/requests/0/exactly/deviceClassName").asText())
                .isEqualTo("gpu");
    }

    @Test
    void whatFindsNoDeviceIsExplained() {
        assertThat(new Allocator(eight(), Map.of()).complaints(gpus("count: 9")))
                .containsExactly(
                        "ResourceClaim some gets no devices of the 8 that are published: request a wants 9 device(s) of class gpu, and 8 match");
    }

    @Test
    void filesMayHoldOtherManifestsToo() throws IOException {
        Path file = folder.resolve("demo.yaml");
        Files.writeString(file, CLASS + """
                        ---
                        apiVersion: v1
                        kind: Namespace
                        metadata: {name: demo}
                        ---
                        apiVersion: resource.k8s.io/v1
                        kind: ResourceClaimTemplate
                        metadata: {name: t}
                        spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
                        """);

        assertThat(names(ClaimTemplates.read(List.of(yaml(file.toString()))), eight()))
                .hasSize(8);
    }

    @Test
    void whatCannotBeUsedIsReported() {
        assertThatThrownBy(() -> ClaimTemplates.read(List.of(yaml("/no/such/file.yaml"))))
                .isInstanceOf(SettingsException.class)
                .hasMessage("driver.claims: there is no file /no/such/file.yaml");
        assertThatThrownBy(() -> ClaimTemplates.read(List.of(yaml(CLASS))))
                .hasMessageContaining("no ResourceClaimTemplate");
        assertThatThrownBy(() -> claims("{requests: [{name: a, exactly: {deviceClassName: other}}]}"))
                .hasMessageContainingAll("ResourceClaim some, request a", "DeviceClass \"other\"", "[gpu]");
        assertThatThrownBy(() -> gpus("adminAccess: true")).hasMessageContaining("admin access");
        assertThatThrownBy(() -> claims("{requests: []}")).hasMessageContaining("requests no devices");
    }
}
