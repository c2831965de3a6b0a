// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.AttributeValue.OfBools;
import io.dra4j.api.device.AttributeValue.OfInts;
import io.dra4j.api.device.AttributeValue.OfStrings;
import io.dra4j.api.device.AttributeValue.OfVersions;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AttributeRulesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final String LONG_DOMAIN = "d".repeat(59) + ".com";

    record Wrong(String name, AttributeValue value, String field) {}

    /** A wrong name, which is reported at the map. */
    private static Wrong name(String name) {
        return new Wrong(name, AttributeValue.of(1), "");
    }

    private static Wrong value(AttributeValue value, String field) {
        return new Wrong("a", value, "[a]" + field);
    }

    static Stream<Wrong> attributes() {
        return Stream.of(
                name("1a"),
                name(""),
                name("a-b"),
                name("a/b/c"),
                name("/a"),
                name("x" + LONG_DOMAIN + "/a"),
                name("a".repeat(33)),
                value(AttributeValue.of("ü".repeat(32) + "x"), ".string"),
                value(AttributeValue.of("\uD800"), ".string: must be valid Unicode; found"),
                value(AttributeValue.version("1.0"), ".version"),
                value(new OfStrings(List.of()), ".strings: must not be empty; found []"),
                value(new OfInts(List.of()), ".ints: must not be empty; found []"),
                value(new OfBools(List.of()), ".bools: must not be empty; found []"),
                value(new OfVersions(List.of()), ".versions: must not be empty; found []"),
                value(new OfStrings(List.of("", "x".repeat(65))), ".strings[1]"),
                value(new OfVersions(List.of("1.0.0", "v1.0.0")), ".versions[1]"));
    }

    @ParameterizedTest
    @MethodSource("attributes")
    void anAttributeThatBreaksARuleIsRefused(Wrong wrong) {
        Device.Builder device = device().attribute(wrong.name(), wrong.value());

        assertThat(RULES.problems(pool(device)))
                .singleElement()
                .asString()
                .startsWith("pool node-a, device gpu-0, field devices[gpu-0].attributes" + wrong.field());
    }

    @Test
    void valuesOfAllListsAreCountedTogether() {
        Device.Builder device = device().attribute("a", new OfBools(Collections.nCopies(24, true)))
                .attribute("b", new OfInts(Collections.nCopies(25, 1L)));

        assertThat(RULES.problems(pool(device)))
                .singleElement()
                .asString()
                .contains("device gpu-0", "must not exceed 48");
    }

    private static Device.Builder device() {
        return Device.builder("gpu-0");
    }

    private static Pool pool(Device.Builder device) {
        return Pool.ofNode("node-a", List.of(device.build()));
    }
}
