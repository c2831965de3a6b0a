// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The functions of Kubernetes, as its documentation describes them. */
class FunctionsTest {

    static Stream<String> expressions() {
        return lines("functions.txt");
    }

    /** The lines of a resource without its comments. */
    static Stream<String> lines(String name) {
        try (InputStream file = FunctionsTest.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
}
