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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The devices that claims of the settings' shape get. */
class AllotmentsTest {

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final String DRIVER = "gpu.example.com";
    private static final String CLASS = """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: gpu}
            spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
            """;

    private static final JsonNode NODE = yaml("metadata: {name: n}");

    @TempDir
    private Path folder;

    private static JsonNode yaml(String text) {
        try {
            return YAML.readTree(text);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<JsonNode> eight() {
        return IntStream.range(0, 8)
                .mapToObj(i -> yaml("""
                                        name: gpu-%d
                                        attributes:
                                          index: {int: %d}
                                        capacity: {memory: {value: %dGi}}
                                        """.formatted(i, i, 10 * (i + 1))))
                .toList();
    }

    private static ClaimTemplates claims(String devices) {
        return ClaimTemplates.read(List.of(yaml(CLASS), yaml("""
                                apiVersion: resource.k8s.io/v1
                                kind: ResourceClaim
                                metadata: {name: some}
                                spec: {devices: %s}
                                """.formatted(devices))), DRIVER);
    }

    /** A pool of the driver. */
    private static List<JsonNode> pool(List<JsonNode> devices) {
        return List.of(yaml("""
                metadata: {name: b}
                spec: {driver: gpu.example.com, nodeName: n, pool: {name: pool, resourceSliceCount: 1}, devices: %s}
                """.formatted(devices)));
    }

    private static List<Allotment> allotments(ClaimTemplates claims, List<JsonNode> slices) {
        return new Allotments(claims, 36).of(NODE, slices);
    }

    private static List<List<String>> names(ClaimTemplates claims, List<JsonNode> devices) {
        return allotments(claims, pool(devices)).stream()
                .map(one -> one.devices().stream()
                        .map(name -> name.replace("pool/", ""))
                        .toList())
                .toList();
    }

    /** Claims with one request of the class, and more about it. */
    private static ClaimTemplates gpus(String more) {
        return claims("{requests: [{name: a, exactly: {deviceClassName: gpu, %s}}]}".formatted(more));
    }

    @Test
    void aCountTakesThatManyAndTheNextClaimTheNext() {
        assertThat(names(gpus("count: 3"), eight()))
                .containsExactly(List.of("gpu-0", "gpu-1", "gpu-2"), List.of("gpu-3", "gpu-4", "gpu-5"));
    }

    @Test
    void sharesHaveWhatIsAskedForAndADeviceGoesToOneClaim() {
        List<JsonNode> shared = List.of(
                yaml("{name: a, allowMultipleAllocations: true, capacity: {cpu: {value: 8}, memory: {value: 4Gi}}}"));

        assertThat(allotments(gpus("capacity: {requests: {cpu: 2}}"), pool(shared)))
                .singleElement()
                .satisfies(one -> {
                    assertThat(one.isShared()).isTrue();
                    assertThat(one.results().get(0).path("consumedCapacity"))
                            .isEqualTo(yaml("{cpu: '2', memory: 4Gi}"));
                });
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
                                        """)), DRIVER);

        Allotment first = allotments(claims, pool(eight())).get(0);

        assertThat(first.allocation().at("/devices/config"))
                .containsExactly(
                        yaml("{source: FromClass, requests: [r], opaque: {driver: d, parameters: {a: 1}}}"),
                        yaml("{source: FromClaim, requests: [r], opaque: {driver: d, parameters: {b: 2}}}"));
        assertThat(first.spec().at("/requests/0/exactly/deviceClassName").asText())
                .isEqualTo("gpu");
    }

    @Test
    void whatFindsNoDeviceIsExplained() {
        String some = "selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].index > 6'}}]";

        assertThat(new Allotments(gpus("count: 2, " + some), 36).complaints(NODE, pool(eight())))
                .containsExactly(
                        "ResourceClaim some gets no devices of the 8 that are published: request a wants 2 device(s), but can have 1; gpu-0, gpu-1, gpu-2 and 4 more: selector #0 of the request does not match: device.attributes[\"gpu.example.com\"].index > 6");
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

        assertThat(names(ClaimTemplates.read(List.of(yaml(file.toString())), DRIVER), eight()))
                .hasSize(8);
    }

    @Test
    void aClassThatIsNotGivenSelectsTheDriversDevices() {
        ClaimTemplates claims = claims("{requests: [{name: a, exactly: {deviceClassName: other, count: 3}}]}");

        assertThat(names(claims, eight())).hasSize(2);
        assertThat(claims.notes()).singleElement().asString().contains("\"other\"", "ResourceClaim some");
    }

    @Test
    void whatCannotBeUsedIsReported() {
        assertThatThrownBy(() -> ClaimTemplates.read(List.of(yaml("/no/such/file.yaml")), DRIVER))
                .isInstanceOf(SettingsException.class)
                .hasMessage("driver.claims: no such file: /no/such/file.yaml");
        assertThatThrownBy(() -> ClaimTemplates.read(List.of(yaml(CLASS)), DRIVER))
                .hasMessageContaining("neither a ResourceClaimTemplate nor a ResourceClaim");
        assertThatThrownBy(() -> gpus("adminAccess: true")).hasMessageContaining("admin access");
        assertThatThrownBy(() -> claims("{requests: []}")).hasMessageContaining("requests no devices");
        assertThatThrownBy(() -> gpus("capacity: {requests: {memory: x}}"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContainingAll("ResourceClaim some", "memory");
        assertThatThrownBy(() -> gpus("selectors: [{cel: {expression: 'device.driver =='}}]"))
                .hasMessageContainingAll("driver.claims", "request a", "compiled", "device.driver ==")
                .hasMessageNotContaining("\n");
    }

    @Test
    void anExpressionThatFailsOnADeviceIsAnError() {
        assertThatThrownBy(() -> names(gpus("selectors: [{cel: {expression: 'device.driver'}}]"), eight()))
                .isInstanceOf(SettingsException.class)
                .hasMessageContainingAll("driver.claims: ResourceClaim some", "selector #0");
        String none = "device.attributes[\"gpu.example.com\"].none == 1";
        assertThatThrownBy(() -> names(gpus("selectors: [{cel: {expression: '%s'}}]".formatted(none)), eight()))
                .isInstanceOf(SettingsException.class)
                .hasMessageContainingAll("selector #0", "none");
    }
}
