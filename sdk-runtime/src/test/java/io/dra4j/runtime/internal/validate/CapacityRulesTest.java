// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CapacityRulesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    @ParameterizedTest
    @ValueSource(strings = {"0", "-5", "8E", "9223372036854775807", "7.999Ei", "1n", "0.5Ki", "9e18", "1.000000000000"})
    void anyAmountThatTheServerKeepsIsFine(String value) {
        assertThat(problems(new Capacity(new Quantity(value), null), false)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "0.5n, billionths",
        "1e-10, billionths",
        "8Ei, 9223372036854775807",
        "-8Ei, 9223372036854775807",
        "1e99, 9223372036854775807",
        "10E, 9223372036854775807"
    })
    void anAmountThatTheServerWouldChangeIsNot(String value, String rule) {
        assertThat(problems(new Capacity(new Quantity(value), null), false))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.field()).isEqualTo("devices[gpu-0].capacity[c].value");
                    assertThat(problem.rule()).contains(rule);
                    assertThat(problem.value()).isEqualTo(value);
                });
    }

    @Test
    void aPolicyIsForDevicesThatSeveralClaimsShare() {
        Capacity capacity = new Capacity(q("10"), RequestPolicy.values(q("1"), List.of(q("1"))));

        assertThat(problems(capacity, true)).isEmpty();
        assertThat(problems(capacity, false))
                .singleElement()
                .asString()
                .contains("field devices[gpu-0].capacity[c].requestPolicy: Forbidden");
    }

    @Test
    void aDefaultAloneIsAtMostTheCapacity() {
        assertThat(policy("10", new RequestPolicy(q("10"), List.of(), null))).isEmpty();
        assertThat(policy("10", new RequestPolicy(null, List.of(), null))).isEmpty();
        assertThat(policy("10", new RequestPolicy(q("11"), List.of(), null)))
                .containsExactly("default: must be at most the capacity, 10; found 11");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10   | 1   | 1 2 10         |",
                "10   | 2   | 1 2 11         | validValues[2]: Inv",
                "10   | 3   | 1 2            | validValues: Inv",
                "10   |     | 1 2            | default: Req",
                "10   | 1   | 1 1            | validValues[1]: Dup",
                "10   | 1   | 2 1            | validValues[1]: Inv",
                "10   | 1   | 500m 1         |",
                "10   | 1   | -1 1           | validValues[0]: must not be negative; found -1",
                "10   | 1e30 | 1             | default: must be at most 9223372036854775807, in any unit; found 1e30",
                "8Gi  | 1Gi | 1Gi 2048Mi 8Gi |",
            })
    void validValuesAscendUpToTheCapacityAndHoldTheDefault(
            String capacity, @Nullable String standard, String values, @Nullable String problem) {
        List<Quantity> amounts = Stream.of(values.split(" ")).map(Quantity::new).toList();

        assertSays(policy(capacity, new RequestPolicy(q(standard), amounts, null)), problem);
    }

    @ParameterizedTest
    @CsvFileSource(files = "src/test/resources/io/dra4j/runtime/internal/validate/ranges.csv", delimiter = '|')
    void aRangeHoldsTheDefaultAndFitsTheCapacityInSteps(
            String capacity,
            @Nullable String standard,
            @Nullable String min,
            @Nullable String max,
            @Nullable String step,
            @Nullable String problem) {
        ValidRange range = new ValidRange(q(min), q(max), q(step));

        assertSays(policy(capacity, new RequestPolicy(q(standard), List.of(), range)), problem);
    }

    private static void assertSays(List<String> problems, @Nullable String problem) {
        if (problem == null) {
            assertThat(problems).isEmpty();
        } else {
            assertThat(problems).anySatisfy(it -> assertThat(it).startsWith(problem));
        }
    }

    private static List<String> policy(String capacity, RequestPolicy policy) {
        return problems(new Capacity(q(capacity), policy), true).stream()
                .map(problem -> problem.toString().replaceFirst(".*, field ", ""))
                .map(text -> text.replace("devices[gpu-0].capacity[c].", ""))
                .map(text -> text.replace("requestPolicy.", ""))
                .toList();
    }

    private static List<Problem> problems(Capacity capacity, boolean shared) {
        Device device = Device.builder("gpu-0")
                .capacity("c", capacity)
                .allowMultipleAllocations(shared)
                .build();
        return RULES.problems(Pool.ofNode("node-a", List.of(device)));
    }

    private static Quantity q(@Nullable String text) {
        return text == null ? null : new Quantity(text);
    }
}
