// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceSelectorTest {

    private static boolean matches(String expression) throws Exception {
        return DeviceSelector.compile(expression).matches("d", new ObjectMapper().readTree("{\"name\": \"g\"}"));
    }

    /** Kubernetes' map of domains finds each of them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "device.attributes['other'].size() == 0",
                "device.attributes.other.size() == 0",
                "device.capacity.other.size() == 0",
                "!device.attributes.other.?id.orValue(false)",
                "!('other' in device.attributes)"
            })
    void aDomainThatNoAttributeHasIsEmpty(String expression) throws Exception {
        assertThat(matches(expression)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"device.attributes['other'].id", "device.attributes.other.id"})
    void anAttributeThatIsMissingIsAnError(String expression) {
        assertThatThrownBy(() -> matches(expression))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("CEL runtime error: no such key: id");
    }
}
