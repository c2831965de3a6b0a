// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerEditsTest {

    static Stream<UnaryOperator<ContainerEdits.Builder>> oneOfEachKind() {
        return Stream.of(
                builder -> builder.env("A", "1"),
                builder -> builder.deviceNode(DeviceNode.of("/dev/null")),
                builder -> builder.mount(Mount.readOnly("/a", "/b")),
                builder -> builder.hook(new Hook(HookName.CREATE_CONTAINER, "/bin/true", List.of(), List.of(), null)),
                builder -> builder.netDevice(new NetDevice("eth1", "net1")),
                builder -> builder.additionalGid(44),
                builder -> builder.intelRdt(new IntelRdt("gold", null, null, List.of(), false)));
    }

    @Test
    void nothingIsEmpty() {
        assertThat(ContainerEdits.NONE.isEmpty()).isTrue();
        assertThat(ContainerEdits.builder().build()).isEqualTo(ContainerEdits.NONE);
    }

    @ParameterizedTest
    @MethodSource("oneOfEachKind")
    void anEditOfAnyKindIsNotEmpty(UnaryOperator<ContainerEdits.Builder> edit) {
        assertThat(edit.apply(ContainerEdits.builder()).build().isEmpty()).isFalse();
    }

    @Test
    void variablesKeepTheirOrderAndTheLastValueOfANameCounts() {
        ContainerEdits edits = ContainerEdits.builder()
                .env("B", "1")
                .env("A", "2")
                .env("B", "3")
                .build();

        assertThat(edits.env().keySet()).containsExactly("B", "A");
        assertThat(edits.env()).containsEntry("B", "3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A=B", "A\0"})
    void aNameThatNoVariableHasIsRefused(String name) {
        assertThatThrownBy(() -> ContainerEdits.builder().env(Map.of(name, "1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Not a name of an environment variable: \"" + name + '"');
    }

    @Test
    void editsDoNotChangeWithTheirBuilder() {
        ContainerEdits.Builder builder = ContainerEdits.builder().env("A", "1");
        ContainerEdits edits = builder.build();

        builder.env("B", "2").additionalGid(7);

        assertThat(edits.env()).containsOnlyKeys("A");
        assertThat(edits.additionalGids()).isEmpty();
    }
}
