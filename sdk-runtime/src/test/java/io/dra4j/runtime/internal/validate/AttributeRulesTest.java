// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AttributeRulesTest {

    private static final String LONG_DOMAIN = "d".repeat(59) + ".com";

    record Wrong(String name, @Nullable AttributeValue value, String field, String rule) {}

    static Stream<Wrong> attributes() {
        return Stream.of(names(), values(), lists()).flatMap(wrong -> wrong);
    }

    private static Stream<Wrong> names() {
        return Stream.of(
                new Wrong("1a", AttributeValue.of(1), "attributes[1a]", "C identifier"),
                new Wrong("", AttributeValue.of(1), "attributes[]", "C identifier"),
                new Wrong("a-b", AttributeValue.of(1), "attributes[a-b]", "C identifier"),
                new Wrong("a/b/c", AttributeValue.of(1), "attributes[a/b/c]", "C identifier"),
                new Wrong("/a", AttributeValue.of(1), "attributes[/a]", "before the /"),
                new Wrong(
                        "\u212A.com/a",
                        AttributeValue.of(1),
                        "attributes[\u212A.com/a]",
                        "before the /"),
                new Wrong(
                        "x" + LONG_DOMAIN + "/a",
                        AttributeValue.of(1),
                        "attributes[",
                        "at most 63"),
                new Wrong("a".repeat(33), AttributeValue.of(1), "attributes[", "at most 32"));
    }

    private static Stream<Wrong> values() {
        return Stream.of(
                new Wrong(
                        "a",
                        AttributeValue.of("ü".repeat(32) + "x"),
                        "attributes[a].string",
                        "at most 64 bytes"),
                new Wrong("a", AttributeValue.of("\uD800"), "attributes[a].string", "Unicode"),
                new Wrong(
                        "a",
                        AttributeValue.of((String) null),
                        "attributes[a].string",
                        "must be set"),
                new Wrong("a", null, "attributes[a]", "must be set"),
                new Wrong("a", AttributeValue.version("1.0"), "attributes[a].version", "2.0.0"));
    }

    private static Stream<Wrong> lists() {
        return Stream.of(
                new Wrong(
                        "a",
                        new AttributeValue.OfStrings(List.of()),
                        "attributes[a].strings",
                        "not be empty"),
                new Wrong(
                        "a",
                        new AttributeValue.OfInts(List.of()),
                        "attributes[a].ints",
                        "not be empty"),
                new Wrong(
                        "a",
                        new AttributeValue.OfBools(List.of()),
                        "attributes[a].bools",
                        "not be empty"),
                new Wrong(
                        "a",
                        new AttributeValue.OfVersions(List.of()),
                        "attributes[a].versions",
                        "not be empty"),
                new Wrong(
                        "a",
                        new AttributeValue.OfStrings(List.of("", "x".repeat(65))),
                        "attributes[a].strings[1]",
                        "64 bytes"),
                new Wrong(
                        "a",
                        new AttributeValue.OfVersions(List.of("1.0.0", "v1.0.0")),
                        "attributes[a].versions[1]",
                        "2.0.0"),
                new Wrong(
                        "a",
                        new AttributeValue.OfBools(Stream.generate(() -> true).limit(49).toList()),
                        "attributes",
                        "at most 48 values"));
    }

    @ParameterizedTest
    @MethodSource("attributes")
    void anAttributeThatBreaksARuleIsRefused(Wrong wrong) {
        Device.Builder device = device().attribute(wrong.name(), wrong.value());

        assertThat(PoolRules.problems(pool(device)))
                .anySatisfy(
                        problem -> {
                            assertThat(problem.device()).hasToString("gpu-0");
                            assertThat(problem.field())
                                    .startsWith("devices[gpu-0]." + wrong.field());
                            assertThat(problem.rule()).startsWith("must ").contains(wrong.rule());
                        });
    }

    @Test
    void namesOfAttributesAndCapacitiesAreCountedTogether() {
        Device.Builder device = device();
        IntStream.range(0, 20).forEach(i -> device.attribute("a" + i, i));
        IntStream.range(0, 13).forEach(i -> device.capacity("c" + i, Capacity.of(i)));

        assertThat(PoolRules.problems(pool(device)))
                .extracting(Problem::toString)
                .containsExactly(
                        "pool node-a, device gpu-0, field devices[gpu-0]: must have at most 32"
                                + " attributes and capacities; found 33");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0",
                "1.2.3",
                "1.0.0-alpha.1",
                "1.0.0-0A.is.legal",
                "1.0.0-x-y-z.--",
                "1.0.0+001.sha-7",
                "99999999999999999999.0.0"
            })
    void versionsBySemanticVersioningAreFine(String version) {
        assertThat(
                        PoolRules.problems(
                                pool(device().attribute("v", AttributeValue.version(version)))))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "1.2",
                "1.2.3.4",
                "01.2.3",
                "1.2.3-",
                "1.2.3-01",
                "1.2.3+",
                "1.2.3-a..b",
                "1.2.3 ",
                "1.2.3-ä",
                "1.2.3+a+b"
            })
    void otherVersionsAreNot(String version) {
        assertThat(
                        PoolRules.problems(
                                pool(device().attribute("v", AttributeValue.version(version)))))
                .singleElement()
                .satisfies(problem -> assertThat(problem.value()).contains(version));
    }

    private static Device.Builder device() {
        return Device.builder("gpu-0");
    }

    private static Pool pool(Device.Builder device) {
        return Pool.ofNode("node-a", List.of(device.build()));
    }
}
