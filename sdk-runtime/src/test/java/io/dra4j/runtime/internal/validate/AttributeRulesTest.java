// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.AttributeValue.OfBools;
import io.dra4j.api.device.AttributeValue.OfInts;
import io.dra4j.api.device.AttributeValue.OfStrings;
import io.dra4j.api.device.AttributeValue.OfVersions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import java.util.Collections;
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

    record Wrong(
            String name, @Nullable AttributeValue value, String field, String rule, String shown) {}

    private static Wrong name(String name, String rule) {
        String shown = name.length() > 32 ? "" : name;
        String field = name.length() > 32 ? "[" : "[" + name + "]";
        return new Wrong(name, AttributeValue.of(1), field, rule, shown);
    }

    private static Wrong value(AttributeValue value, String field, String rule, String shown) {
        return new Wrong("a", value, "[a]" + field, rule, shown);
    }

    static Stream<Wrong> attributes() {
        List<Boolean> tooMany = Collections.nCopies(49, true);
        return Stream.of(
                name("1a", "C identifier"),
                name("", "C identifier"),
                name("a-b", "C identifier"),
                name("a/b/c", "C identifier"),
                name("/a", "before the /"),
                name("\u212A.com/a", "before the /"),
                name("x" + LONG_DOMAIN + "/a", "at most 63"),
                name("a".repeat(33), "at most 32"),
                value(AttributeValue.of("ü".repeat(32) + "x"), ".string", "at most 64 bytes", "üx"),
                value(AttributeValue.of("\uD800"), ".string", "Unicode", "d800"),
                value(AttributeValue.version("1.0"), ".version", "2.0.0", "1.0"),
                value(new OfStrings(List.of()), ".strings", "not be empty", "[]"),
                value(new OfInts(List.of()), ".ints", "not be empty", "[]"),
                value(new OfBools(List.of()), ".bools", "not be empty", "[]"),
                value(new OfVersions(List.of()), ".versions", "not be empty", "[]"),
                value(new OfStrings(List.of("", "x".repeat(65))), ".strings[1]", "64 bytes", "xx"),
                value(new OfVersions(List.of("1.0.0", "v1.0.0")), ".versions[1]", "2.0.0", "v1"),
                new Wrong("a", new OfBools(tooMany), "", "at most 48 values", "49"));
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
                                    .startsWith("devices[gpu-0].attributes" + wrong.field());
                            assertThat(problem.rule()).startsWith("must ").contains(wrong.rule());
                            assertThat(problem.value()).contains(wrong.shown());
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
