// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
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
    void aTimeOfAnotherClockOrFormIsNoAge() {
        assertThat(NameList.age("2026-11-24T13:00:00Z", NOW)).isEqualTo("for 0 min");
        assertThat(NameList.age("yesterday", NOW)).isEqualTo("since yesterday");
    }
}
