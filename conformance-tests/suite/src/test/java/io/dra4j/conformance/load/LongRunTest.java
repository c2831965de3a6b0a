// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LongRunTest {

    private static long growth(long... residentBytes) {
        Timings prepares = new Timings("prepare", 1, 0, List.of(Duration.ZERO), Duration.ZERO);
        return LongRun.growthBytes(IntStream.range(0, residentBytes.length)
                .mapToObj(i -> new LongRun.Part(i, new Footprint(residentBytes[i], 0, 1, 1, 1), prepares))
                .toList());
    }

    @Test
    void growthOfTheFirstHalfIsTheDriversStart() {
        assertThat(growth(10, 20, 30, 40, 50, 50, 50, 50, 50, 50)).isZero();
    }

    @Test
    void growthOfTheSecondHalfCounts() {
        assertThat(growth(10, 20, 30, 40, 50, 60, 70, 80, 90, 100)).isEqualTo(50);
    }

    @Test
    void aCollectionAtHalfTimeIsNoGrowth() {
        assertThat(growth(50, 50, 50, 50, 20, 50, 50, 50, 50, 50)).isZero();
    }

    @Test
    void memoryThatWasGivenBackIsNegative() {
        assertThat(growth(10, 50, 50, 50, 50, 20, 20, 20, 20, 20)).isEqualTo(-30);
    }
}
