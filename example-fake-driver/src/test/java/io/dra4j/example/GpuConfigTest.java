// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.example.GpuConfig.Sharing;
import io.dra4j.example.GpuConfig.SpacePartitioning;
import io.dra4j.example.GpuConfig.TimeSlicing;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class GpuConfigTest {

    private static final GpuConfig DEFAULT =
            config("TimeSlicing", new TimeSlicing("Default"), null);

    private static GpuConfig config(
            @Nullable String strategy,
            @Nullable TimeSlicing slicing,
            @Nullable SpacePartitioning partitioning) {
        return new GpuConfig(new Sharing(strategy, slicing, partitioning));
    }

    private static GpuConfig normalized(GpuConfig config) {
        return GpuConfig.TYPE.normalize().apply(config);
    }

    private static List<String> problems(GpuConfig config) {
        return GpuConfig.TYPE.problems().apply(normalized(config));
    }

    @Nested
    class Normalization {

        @Test
        void isTimeSlicingByDefault() {
            assertThat(GpuConfig.TYPE.defaults().get()).isEqualTo(DEFAULT);
            assertThat(normalized(new GpuConfig(null))).isEqualTo(DEFAULT);
        }

        @Test
        void takesTheDefaultIntervalForTimeSlicing() {
            assertThat(normalized(config("TimeSlicing", null, null))).isEqualTo(DEFAULT);
            assertThat(normalized(config("TimeSlicing", new TimeSlicing(null), null)))
                    .isEqualTo(DEFAULT);
        }

        @Test
        void takesOnePartForSpacePartitioning() {
            GpuConfig one = config("SpacePartitioning", null, new SpacePartitioning(1));

            assertThat(normalized(config("SpacePartitioning", null, null))).isEqualTo(one);
            assertThat(normalized(config("SpacePartitioning", null, new SpacePartitioning(null))))
                    .isEqualTo(one);
        }

        @Test
        void keepsWhatWasGiven() {
            GpuConfig given = config("SpacePartitioning", null, new SpacePartitioning(10));

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

        @Test
        void namesAMissingStrategy() {
            assertThat(problems(config(null, null, null)))
                    .containsExactly("no sharing strategy set");
        }

        @Test
        void namesAnUnknownStrategy() {
            assertThat(problems(config("Luck", null, null)))
                    .containsExactly("unknown GPU sharing strategy: Luck");
        }

        @Test
        void namesAnUnknownInterval() {
            assertThat(problems(config("TimeSlicing", new TimeSlicing("Forever"), null)))
                    .containsExactly("unknown time-slice interval: Forever");
        }

        @Test
        void namesAnInvalidPartitionCount() {
            assertThat(problems(config("SpacePartitioning", null, new SpacePartitioning(-1))))
                    .containsExactly("invalid partition count: -1");
        }

        @Test
        void refusesTheSettingsOfTheOtherStrategy() {
            assertThat(problems(config("TimeSlicing", null, new SpacePartitioning(2))))
                    .containsExactly(
                            "spacePartitioningConfig needs the strategy SpacePartitioning");
            assertThat(problems(config("SpacePartitioning", new TimeSlicing("Long"), null)))
                    .containsExactly("timeSlicingConfig needs the strategy TimeSlicing");
        }
    }
}
