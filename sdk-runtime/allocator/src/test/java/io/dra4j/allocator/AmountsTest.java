// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.model.Capacity;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.RequestPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests consume amounts as the policy of a capacity says. */
class AmountsTest {
    private static final Amounts AMOUNTS = new Amounts(false);

    private static @Nullable Quantity quantity(@Nullable String text) {
        return text == null ? null : Quantity.parse(text);
    }

    @ParameterizedTest
    @CsvSource({
        // requested, default, min, max, step, consumed, allowed
        ",,,,,10Gi,true",
        ",2Gi,,,,2Gi,true",
        "3Gi,2Gi,,,,3Gi,true",
        "1Gi,2Gi,2Gi,,,2Gi,true",
        "3Gi,2Gi,2Gi,,,3Gi,true",
        "3Gi,2Gi,2Gi,,2Gi,4Gi,true",
        "4Gi,2Gi,2Gi,,2Gi,4Gi,true",
        "9Gi,2Gi,2Gi,8Gi,,9Gi,false",
        "7Gi,2Gi,2Gi,7Gi,2Gi,8Gi,false",
        ",9Gi,2Gi,8Gi,,9Gi,true",
        ",,2Gi,,3Gi,10Gi,false",
        ",,1Gi,,3Gi,10Gi,true"
    })
    void aRangeRoundsUp(
            @Nullable String requested,
            @Nullable String byDefault,
            @Nullable String min,
            @Nullable String max,
            @Nullable String step,
            String consumed,
            boolean allowed) {
        RequestPolicy.Range range =
                min == null ? null : new RequestPolicy.Range(quantity(min), quantity(max), quantity(step));
        RequestPolicy policy = new RequestPolicy(quantity(byDefault), List.of(), range);

        assertAmount(requested, policy, consumed, allowed);
    }

    @ParameterizedTest
    @CsvSource({"1Gi,2Gi,true", "2Gi,2Gi,true", "3Gi,4Gi,true", "5Gi,5Gi,false", ",2Gi,true"})
    void valuesAreTheNextLargerOne(@Nullable String requested, String consumed, boolean allowed) {
        List<Quantity> values = List.of(Quantity.parse("2Gi"), Quantity.parse("4Gi"));

        assertAmount(requested, new RequestPolicy(Quantity.parse("2Gi"), values, null), consumed, allowed);
    }

    private static void assertAmount(
            @Nullable String requested, RequestPolicy policy, String consumed, boolean allowed) {
        Capacity capacity = new Capacity(Quantity.parse("10Gi"), policy);

        Quantity amount = AMOUNTS.consumed(quantity(requested), capacity);

        assertThat(amount).hasToString(consumed);
        assertThat(AMOUNTS.allowed(amount, policy)).isEqualTo(allowed);
    }
}
