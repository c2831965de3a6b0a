// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordStateTest {

    private static final RecordState<Flashed> STATE = RecordState.of(2, Flashed.class);

    private record Flashed(
            List<Region> regions, boolean locked, @Nullable String image) {}

    private record Region(String name, int slot) {}

    private record FlashedOnce(String region) {}

    @Test
    void writesAFieldForEachComponentThatIsNotNullAndReadsIt() {
        Flashed flashed = new Flashed(List.of(new Region("r0", 3)), true, "aes.bit");

        assertThat(STATE.read(STATE.write(flashed))).isEqualTo(flashed);
        assertThat(STATE.write(new Flashed(List.of(new Region("r0", 3)), false, null)))
                .isEqualTo(new ProviderState(2, "{\"regions\":[{\"name\":\"r0\",\"slot\":3}],\"locked\":false}"));
    }

    @Test
    void writesTimesAsText() {
        record Lent(Instant since, Duration left, OffsetDateTime until, ZonedDateTime there) {}
        RecordState<Lent> state = RecordState.of(1, Lent.class);
        Lent lent = new Lent(
                Instant.parse("2026-11-29T08:00:00.25Z"),
                Duration.ofSeconds(90),
                OffsetDateTime.parse("2026-11-29T10:00:00+02:00"),
                ZonedDateTime.parse("2026-11-29T09:00:00Z[UTC]"));

        assertThat(state.write(lent).rawJson())
                .isEqualTo("{\"since\":\"2026-11-29T08:00:00.250Z\",\"left\":\"PT1M30S\","
                        + "\"until\":\"2026-11-29T10:00:00+02:00\",\"there\":\"2026-11-29T09:00:00Z[UTC]\"}");
        assertThat(state.read(state.write(lent))).isEqualTo(lent);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"regions":[],"locked":true,"extra":1}                | UnrecognizedPropertyException at /extra; it has 38 characters
                    {"regions":[],"locked":true,"locked":true}            | JsonParseException at column 37; it has 42 characters
                    {"regions":[]}                                        | MismatchedInputException at /locked; it has 14 characters
                    {"regions":[{"name":"r0","slot":1.5}],"locked":true}  | InvalidFormatException at /regions/0/slot; it has 52 characters
                    {"regions":[],"locked":true} {}                       | MismatchedInputException at column 30; it has 31 characters
                    null                                                  | it is null
                    {"regions"                                            | JsonEOFException at column 11; it has 10 characters
                    """)
    void refusesWhatDoesNotFitWithoutQuotingIt(String json, String why) {
        assertThatThrownBy(() -> STATE.read(new ProviderState(2, json)))
                .isInstanceOf(DraException.class)
                .hasMessage("The claim's state can't be read: " + why);
    }

    @Test
    void refusesOtherVersions() {
        assertThatThrownBy(() -> STATE.read(new ProviderState(3, "{}")))
                .isInstanceOf(DraException.class)
                .hasMessage("The claim's state has version 3, and this driver reads [2]: a newer driver"
                        + " prepared the claim");
        assertThatThrownBy(() -> STATE.read(new ProviderState(1, "{}")))
                .isInstanceOf(DraException.class)
                .hasMessage("The claim's state has version 1, and this driver reads [2]");
    }

    @Test
    void upgradesAnEarlierVersion() {
        RecordState<Flashed> both = STATE.upgrading(
                1, FlashedOnce.class, old -> new Flashed(List.of(new Region(old.region(), 0)), false, null));

        assertThat(both.read(new ProviderState(1, "{\"region\":\"r1\"}")).regions())
                .containsExactly(new Region("r1", 0));
        assertThatThrownBy(() -> both.upgrading(2, FlashedOnce.class, old -> null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Version 2 is already read");
    }
}
