// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The functions of Kubernetes, as its documentation describes them. */
class FunctionsTest {

    static Stream<String> expressions() throws IOException {
        return lines("functions.txt");
    }

    /** The lines of a resource without its comments. */
    static Stream<String> lines(String name) throws IOException {
        return Files.readAllLines(Path.of("src/test/resources/io/dra4j/allocator/cel", name)).stream()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"));
    }

    private static boolean matches(String expression) {
        return DeviceSelector.compile(expression).matches("gpu.example.com", JsonNodeFactory.instance.objectNode());
    }

    @ParameterizedTest
    @MethodSource("expressions")
    void isTrue(String expression) {
        assertThat(matches(expression)).isTrue();
    }

    @Test
    void whatCannotBeReadIsAnError() {
        for (String expression : new String[] {
            "quantity('200K') == quantity('1')",
            "quantity('1500m').asInteger() == 1",
            "semver('v1.0') == semver('1.0.0')",
            "semver('1.0.0-01') == semver('1.0.0')",
            "ip('010.0.0.1').isLoopback()",
            "cidr('10.0.0.0/33').prefixLength() == 33",
            "url('../relative').getHost() == ''",
            "[].max() == 1",
            "'%q'.format([1]) == ''",
            "'%s'.format([]) == ''",
            "lists.range(49).includes(49)"
        }) {
            assertThatThrownBy(() -> matches(expression)).as(expression).isInstanceOf(ExpressionException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"device.attributes['other'].id", "device.attributes.other.id"})
    void anAttributeThatIsMissingIsAnError(String expression) {
        assertThatThrownBy(() -> matches(expression))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("CEL runtime error: no such key: id");
    }
}
