// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.settings.SettingsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions about devices, as the documentation of Kubernetes and drivers has them. */
class SelectorTest {

    private static final Candidate DEVICE = new Candidate("gpu.example.com", "node-1", yaml("""
                            name: gpu-0
                            attributes:
                              type: {string: gpu}
                              index: {int: 3}
                              virtual: {bool: false}
                              driverVersion: {version: 580.1.0}
                              resource.kubernetes.io/pcieRoot: {string: "pci0000:01"}
                              modes: {strings: [a, b]}
                            capacity:
                              memory: {value: 80Gi}
                            """));

    private static JsonNode yaml(String text) {
        try {
            return new YAMLMapper().readTree(text);
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Selector of(String expression) {
        return Selector.compile(expression, "DeviceClass gpu");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "device.driver == 'gpu.example.com'",
                "device.attributes['gpu.example.com'].type == 'gpu'",
                "device.attributes['gpu.example.com'].index > 2 && !device.attributes['gpu.example.com'].virtual",
                "device.attributes['gpu.example.com'].index > 2.5",
                "device.attributes['resource.kubernetes.io'].pcieRoot.startsWith('pci')",
                "device.attributes['gpu.example.com'].type.lowerAscii().matches('^gp.$')",
                "'b' in device.attributes['gpu.example.com'].modes",
                "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) > 0",
                "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('79Gi'))",
                "device.capacity['gpu.example.com'].memory.isLessThan(quantity('100G'))",
                "device.capacity['gpu.example.com'].memory == quantity('81920Mi')",
                "device.attributes['gpu.example.com'].driverVersion.compareTo(semver('580.1.0-rc.1')) == 1",
                "device.attributes['gpu.example.com'].driverVersion.isLessThan(semver('580.10.0'))",
                "!('other' in device.attributes) && 'gpu.example.com' in device.attributes",
                "!has(device.attributes['other'].type)",
                "'other' in device.attributes && device.attributes['other'].type == 'x' || true",
                "device.attributes['gpu.example.com'].?none.orValue('x') == 'x'",
                "cel.bind(d, device.attributes['gpu.example.com'], d.type == 'gpu' && d.index == 3)",
                "device.allowMultipleAllocations == false",
                "device.attributes['gpu.example.com'].modes.exists(m, m == 'a')"
            })
    void isTrue(String expression) {
        assertThat(of(expression).matches(DEVICE)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "device.driver == 'other'",
                "'other' in device.attributes && device.attributes['other'].type == 'x'",
                "device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) > 0"
            })
    void isFalse(String expression) {
        assertThat(of(expression).matches(DEVICE)).isFalse();
    }

    @Test
    void whatCannotBeEvaluatedNamesExpressionAndOwner() {
        assertThatThrownBy(() -> of("device.driver =="))
                .isInstanceOf(SettingsException.class)
                .hasMessageContainingAll("driver.claims", "DeviceClass gpu", "compiled", "device.driver ==")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> of("device.foo('x')")).hasMessageContaining("foo");
        String missing = "device.attributes['gpu.example.com'].none == 1";
        assertThatThrownBy(() -> of(missing).matches(DEVICE))
                .isInstanceOf(SettingsException.class)
                .hasMessageContainingAll("none", "node-1/gpu-0", missing);
        assertThatThrownBy(() -> of("device.driver").matches(DEVICE)).hasMessageContaining("neither true nor false");
        String wrong = "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('x'))";
        assertThatThrownBy(() -> of(wrong).matches(DEVICE))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining(wrong);
    }
}
