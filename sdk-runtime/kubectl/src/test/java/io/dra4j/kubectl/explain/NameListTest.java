// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class NameListTest {
    private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");

    @Test
    void anAgeIsInItsLargestUnit() {
        assertThat(NameList.age("2026-11-24T11:59:59Z", NOW)).isEqualTo("for 0 min");
        assertThat(NameList.age("2026-11-24T10:01:00Z", NOW)).isEqualTo("for 119 min");
        assertThat(NameList.age("2026-11-24T10:00:00Z", NOW)).isEqualTo("for 2 h");
        assertThat(NameList.age("2026-11-22T12:00:00Z", NOW)).isEqualTo("for 2 days");
    }

    @Test
    void fiveNamesAreWrittenAndTheRestAreCounted() {
        assertThat(NameList.some(List.of("a", "b", "c", "d", "e"))).isEqualTo("a, b, c, d, e");
        assertThat(NameList.some(List.of("a", "b", "c", "d", "e", "f", "g"))).isEqualTo("a, b, c, d, e and 2 more");
    }

    @Test
    void anErrorThatIsNotKnownStaysAsItIs() {
        assertThat(Failure.text("the disk is full")).isEqualTo("the disk is full");
        assertThat(Failure.text("resource pool is being updated")).isEqualTo("resource pool is being updated");
    }

    @Test
    void aTimeOfAnotherClockOrFormIsNoAge() {
        assertThat(NameList.age("2026-11-24T13:00:00Z", NOW)).isEqualTo("for 0 min");
        assertThat(NameList.age("yesterday", NOW)).isEqualTo("since yesterday");
    }
}
