// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.example.FakeGpuConfig.Sharing;
import io.dra4j.example.FakeGpuConfig.SpacePartitioning;
import io.dra4j.example.FakeGpuConfig.TimeSlicing;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FakeGpuConfigTest {

    private static final FakeGpuConfig DEFAULT = config("TimeSlicing", new TimeSlicing("Default"), null);

    private static FakeGpuConfig config(
            @Nullable String strategy, @Nullable TimeSlicing slicing, @Nullable SpacePartitioning partitioning) {
        return new FakeGpuConfig(new Sharing(strategy, slicing, partitioning));
    }

    private static FakeGpuConfig normalized(FakeGpuConfig config) {
        return FakeGpuConfig.TYPE.normalize().apply(config);
    }

    private static List<String> problems(FakeGpuConfig config) {
        return FakeGpuConfig.TYPE.validate().apply(normalized(config));
    }

    @Nested
    class Normalization {

        @Test
        void isTimeSlicingByDefault() {
            assertThat(FakeGpuConfig.TYPE.defaults().get()).isEqualTo(DEFAULT);
            assertThat(normalized(new FakeGpuConfig(null))).isEqualTo(DEFAULT);
        }

        @Test
        void takesTheDefaultIntervalForTimeSlicing() {
            assertThat(normalized(config("TimeSlicing", null, null))).isEqualTo(DEFAULT);
            assertThat(normalized(config("TimeSlicing", new TimeSlicing(null), null)))
                    .isEqualTo(DEFAULT);
        }

        @Test
        void takesOnePartForSpacePartitioning() {
            FakeGpuConfig one = config("SpacePartitioning", null, new SpacePartitioning(1));

            assertThat(normalized(config("SpacePartitioning", null, null))).isEqualTo(one);
            assertThat(normalized(config("SpacePartitioning", null, new SpacePartitioning(null))))
                    .isEqualTo(one);
        }

        @Test
        void keepsWhatWasGiven() {
            FakeGpuConfig given = config("SpacePartitioning", null, new SpacePartitioning(10));

            assertThat(normalized(given)).isEqualTo(given);
        }
    }

    @Nested
    class Validation {

        @Test
        void acceptsEachStrategyWithItsSettings() {
            for (String interval : List.of("Default", "Short", "Medium", "Long")) {
                assertThat(problems(config("TimeSlicing", new TimeSlicing(interval), null)))
                        .isEmpty();
            }
            assertThat(problems(config("SpacePartitioning", null, new SpacePartitioning(0))))
                    .isEmpty();
        }

        @ParameterizedTest
        @CsvSource({
            ",,, no sharing strategy set",
            "Luck,,, unknown GPU sharing strategy: Luck",
            "TimeSlicing,Forever,, unknown time-slice interval: Forever",
            "SpacePartitioning,,-1, invalid partition count: -1",
            "TimeSlicing,,2, spacePartitioningConfig needs the strategy SpacePartitioning",
            "SpacePartitioning,Long,, timeSlicingConfig needs the strategy TimeSlicing",
        })
        void namesWhatIsInvalid(String strategy, String interval, Integer count, String problem) {
            TimeSlicing slicing = interval == null ? null : new TimeSlicing(interval);
            SpacePartitioning parts = count == null ? null : new SpacePartitioning(count);

            assertThat(problems(config(strategy, slicing, parts))).containsExactly(problem);
        }
    }
}
