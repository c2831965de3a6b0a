// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.PendingClaim;
import io.dra4j.runtime.internal.observe.ListedClaims;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PendingClaimsTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final List<Duration> limits = new ArrayList<>();
    private final List<PendingClaim> claims = new ArrayList<>();
    private boolean away;
    private Instant now = START;
    private final PendingClaims pending =
            new PendingClaims(this::list, () -> now, PendingClaims.LIMIT);

    private List<PendingClaim> list(Duration limit) {
        limits.add(limit);
        if (away) {
            throw new ClusterException("the API server is away", 503, null);
        }
        return List.copyOf(claims);
    }

    private static PendingClaim claim(long secondsOld, boolean forPod, String... classes) {
        return new PendingClaim(Set.of(classes), START.minusSeconds(secondsOld), forPod);
    }

    @Test
    void areCountedOnceForEachClassWithTheAgeOfTheOldest() {
        claims.add(claim(10, true, "gpu", "mig"));
        claims.add(claim(30, true, "gpu"));
        claims.add(claim(99, false, "gpu"));

        assertThat(pending.get().pending())
                .extracting(
                        ListedClaims.OfClass::deviceClass,
                        ListedClaims.OfClass::forPod,
                        ListedClaims.OfClass::count,
                        one -> one.oldest().toSeconds())
                .containsExactlyInAnyOrder(
                        tuple("gpu", true, 2L, 30L),
                        tuple("mig", true, 1L, 10L),
                        tuple("gpu", false, 1L, 99L));
    }

    @Test
    void areNotListedAgainWithin15SecondsButGrowOlder() {
        claims.add(claim(10, true, "gpu"));
        pending.get();
        claims.clear();

        now = START.plusSeconds(14);
        assertThat(pending.get().pending())
                .singleElement()
                .satisfies(one -> assertThat(one.oldest()).hasSeconds(24));
        assertThat(limits).containsExactly(PendingClaims.LIMIT);

        now = START.plusSeconds(15);
        assertThat(pending.get().pending()).isEmpty();
        assertThat(limits).hasSize(2);
    }

    @Test
    void areListedAgainAfterAClockWasSetBack() {
        pending.get();
        now = START.minusSeconds(3600);

        pending.get();

        assertThat(limits).hasSize(2);
    }

    @Test
    void areNotThereWhileTheListFailsWhichIsNotTriedMoreOftenEither() {
        claims.add(claim(10, true, "gpu"));
        pending.get();
        away = true;
        now = now.plusSeconds(15);

        assertThat(pending.get()).isEqualTo(new ListedClaims(List.of(), 1));
        assertThat(pending.get().failures()).isEqualTo(1);
        assertThat(pending.problem()).isEqualTo("the API server is away");
        assertThat(limits).hasSize(2);

        away = false;
        now = now.plusSeconds(15);
        assertThat(pending.get().pending()).hasSize(1);
        assertThat(pending.get().failures()).isEqualTo(1);
        assertThat(pending.problem()).isEmpty();
    }

    @Test
    void ofAClockThatIsAheadHaveNoNegativeAge() {
        claims.add(claim(-5, true, "gpu"));

        assertThat(pending.get().pending())
                .singleElement()
                .satisfies(one -> assertThat(one.oldest()).isZero());
    }

    @Test
    void ofManyClassesShareASeriesButForTheClassesWithTheMostClaims() {
        claims.add(claim(1, true, "zz-often"));
        claims.add(claim(2, true, "zz-often"));
        for (int i = 0; i < 1000; i++) {
            claims.add(claim(i, true, "made-up-" + i, "made-up-too-" + i));
        }

        List<ListedClaims.OfClass> shown = pending.get().pending();

        assertThat(shown).hasSize(ClassCounts.MOST_CLASSES + 1);
        assertThat(shown)
                .contains(new ListedClaims.OfClass("zz-often", true, 2, Duration.ofSeconds(2)));
        assertThat(shown)
                .filteredOn(one -> one.deviceClass().equals("(other)"))
                .singleElement()
                .satisfies(one -> assertThat(one.count()).isLessThanOrEqualTo(1000))
                .satisfies(one -> assertThat(one.oldest()).hasSeconds(999));
    }
}
