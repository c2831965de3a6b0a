// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DriverNumbersTest {

    private static Timings measure(String what, int batch, int held, int millis) {
        return new Timings(what, batch, held, List.of(Duration.ofMillis(millis)), Duration.ofSeconds(45));
    }

    private final Timings first = measure("prepare, 1 to 10", 1, 0, 30);
    private final Timings one = measure("prepare", 1, 0, 12);
    private final Timings eight = measure("prepare", 8, 0, 18);
    private final Timings held = measure("prepare", 1, 200, 15);
    private final Timings eightHeld = measure("prepare", 8, 200, 45);
    private final Timings unprepared = measure("unprepare", 1, 0, 9);

    private final DriverNumbers numbers = new DriverNumbers(
            "gpu.example.com",
            List.of(),
            Optional.empty(),
            Optional.empty(),
            200,
            List.of(
                    measure(Floors.EMPTY_CALL, 0, 0, 1),
                    measure(Floors.FILE, 0, 0, 2),
                    measure(Floors.DIRECTORY, 0, 0, 100),
                    measure(Floors.GET, 0, 0, 3)),
            List.of(first, one, eight, held, eightHeld, unprepared));

    @Test
    void severalClaimsAreComparedWithOneOfAsManyHeld() {
        assertThat(numbers.toOneClaim(eight)).hasValue(1.5);
        assertThat(numbers.toOneClaim(eightHeld)).hasValue(3);
        assertThat(numbers.toOneClaim(one)).isEmpty();
        assertThat(numbers.toOneClaim(first)).as("with the later ones").hasValue(2.5);
    }

    @Test
    void claimsHeldAreComparedWithNoneHeldAndAsManyInTheCall() {
        assertThat(numbers.toNoneHeld(held)).hasValue(1.25);
        assertThat(numbers.toNoneHeld(eightHeld)).hasValue(2.5);
        assertThat(numbers.toNoneHeld(eight)).isEmpty();
    }

    @Test
    void theFloorIsWhatOneSuchCallNeeds() {
        assertThat(numbers.toFloor(one)).as("1 + 3 + 2 x 2").hasValue(1.5);
        assertThat(numbers.toFloor(unprepared)).as("1 + 2").hasValue(3);
        assertThat(numbers.toFloor(measure(Floors.GET, 0, 0, 3))).isEmpty();
    }
}
