// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class CasesTest {
    private sealed interface Shape {}

    private record Circle(int radius) implements Shape {}

    private record Square(int side) implements Shape {}

    @Test
    void eachClassOfTheTypeNeedsACase() {
        Cases<Shape, Integer> cases = new Cases<Shape, Integer>(Shape.class).when(Circle.class, Circle::radius);
        assertThatThrownBy(cases::complete).hasMessage("No case for " + Square.class.getName());
        assertThat(cases.when(Square.class, Square::side).complete().apply(new Square(3)))
                .isEqualTo(3);
    }
}
