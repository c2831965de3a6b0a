// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any expression gets a timely answer: a problem or none. */
class HostileExpressionsTest {
    private static final int LENGTH = 10 * 1024;
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String TOO_DEEP =
            "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250";

    private static final List<String> WORDS =
            List.of(("device . driver attributes [ ] \"a\" ( ) { } == && || ! - ? : .? [? 1 1u 1.5e9 0x ' "
                            + "\"\"\" b'\\377' r\" \n \\ has( .all(x, .map(x, x in cel.bind(x, quantity( semver('1') "
                            + "ip .matches('(') \u0000 \ud800 日本 😀 null true % // kubernetes.DRADevice{")
                    .split(" "));

    private final DeviceExpressions expressions =
            new DeviceExpressions(new FeatureGates(KubernetesVersion.V1_36, Map.of()));

    private String problem(String expression) {
        return Assertions.assertTimeoutPreemptively(SOON, () -> expressions.selectorProblem(expression));
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "[", "{", "f(", "has(", "1+", "1==", "[1].all(x,", "cel.bind(x,1,"})
    void nestingEndsWhereTheServersDoes(String part) {
        String nested = part.repeat(LENGTH / part.length() - 1) + "1";

        assertThat(problem(nested)).isEqualTo(TOO_DEEP);
        assertThat(problem("device" + ".a".repeat(LENGTH / 2 - 3))).isEqualTo(TOO_DEEP);
    }

    @ParameterizedTest
    @ValueSource(strings = {"!", "-", "@", "\"", "'", "1 ", "\n", "x?", ")", "\ud800", "a", "true&&"})
    void lengthAloneDoesNoHarm(String part) {
        String expression = part.repeat(LENGTH / part.length());

        assertThatCode(() -> problem(expression)).doesNotThrowAnyException();
        assertThatCode(() -> problem(expression + "true")).doesNotThrowAnyException();
    }

    @Test
    void randomTextsAreAnswered() {
        Random random = new Random(Long.getLong("dra4j.seed", 26));
        int count = Boolean.getBoolean("dra4j.full") ? 20_000 : 2_000;
        int accepted = 0;
        for (int i = 0; i < count; i++) {
            StringBuilder text = new StringBuilder();
            for (int words = random.nextInt(1, 12); words > 0; words--) {
                text.append(WORDS.get(random.nextInt(WORDS.size())));
            }
            String expression = text.toString();
            accepted += problem(expression).isEmpty() ? 1 : 0;
        }

        assertThat(accepted).isLessThan(count / 10);
    }
}
