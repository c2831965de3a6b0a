// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class OwnNamesTest {

    private final OwnNames names = new OwnNames("drv.example");

    @Test
    void onlyTheDriversOwnDomainIsLeftOut() {
        assertThat(names.bare("drv.example/x")).isEqualTo("x");
        assertThat(names.bare("x")).isEqualTo("x");
        assertThat(names.bare("a.drv.example/x")).isEqualTo("a.drv.example/x");
        assertThat(names.bare("drv.example.com/x")).isEqualTo("drv.example.com/x");
    }

    @Test
    void aNameOfAnotherDomainHasOneForm() {
        assertThat(names.other("x")).isEqualTo("drv.example/x");
        assertThat(names.other("drv.example/x")).isEqualTo("x");
        assertThat(names.other("other.example/x")).isEqualTo("other.example/x");
    }

    @Test
    void bothFormsFindWhatIsThereInEither() {
        Map<String, Integer> byName = Map.of("x", 1, "drv.example/y", 2, "other.example/x", 3);

        assertThat(names.find(byName, "x")).contains(1);
        assertThat(names.find(byName, "drv.example/x")).contains(1);
        assertThat(names.find(byName, "y")).contains(2);
        assertThat(names.find(byName, "drv.example/y")).contains(2);
        assertThat(names.find(byName, "other.example/x")).contains(3);
        assertThat(names.find(byName, "other.example/y")).isEmpty();
    }

    @Test
    void theLongFormCounts() {
        Map<String, Integer> byName = Map.of("x", 1, "drv.example/x", 2);

        assertThat(names.find(byName, "x")).contains(2);
        assertThat(names.find(byName, "drv.example/x")).contains(2);
        assertThat(names.counts(byName, "x")).isFalse();
        assertThat(OwnNames.literal().find(byName, "x")).contains(1);
        assertThat(OwnNames.literal().find(Map.of("x", 1), "drv.example/x")).isEmpty();
    }
}
