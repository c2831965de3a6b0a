// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.pending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.ListedClaims;
import io.dra4j.tools.pending.PendingClaims.ClassTally;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PendingClaimsTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final List<Duration> limits = new ArrayList<>();
    private final List<PendingClaim> claims = new ArrayList<>();
    private boolean away;
    private boolean broken;
    private Instant now = START;
    private final PendingClaims pending = new PendingClaims(this::list, () -> now, PendingClaims.LIMIT);

    private void list(Consumer<PendingClaim> claim, Duration limit) {
        limits.add(limit);
        if (away) {
            throw new ClusterException("the API server is away", 503, null);
        }
        claims.forEach(claim);
        if (broken) {
            throw new IllegalStateException("what was not expected");
        }
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
                        tuple("gpu", true, 2L, 30L), tuple("mig", true, 1L, 10L), tuple("gpu", false, 1L, 99L));
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
    void ofAnEarlierListAreNotThePresentAfterAnyOtherError() {
        claims.add(claim(10, true, "gpu"));
        pending.get();
        broken = true;
        now = now.plusSeconds(15);
        assertThatThrownBy(pending::get).isInstanceOf(IllegalStateException.class);

        assertThat(pending.get().pending()).isEmpty();
    }

    @Test
    void ofAClockThatIsAheadHaveNoNegativeAge() {
        claims.add(claim(-5, true, "gpu"));

        assertThat(pending.get().pending())
                .singleElement()
                .satisfies(one -> assertThat(one.oldest()).isZero());
    }

    private ListedClaims.OfClass shown(String deviceClass, boolean forPod) {
        return pending.get().pending().stream()
                .filter(one -> one.deviceClass().equals(deviceClass) && one.forPod() == forPod)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void ofManyClassesShareASeriesButForTheClassesWithTheMostClaims() {
        claims.add(claim(1, true, "zz-often"));
        claims.add(claim(2, true, "zz-often"));
        for (int i = 0; i < 400; i++) {
            claims.add(claim(i, true, "made-up-" + i, "made-up-too-" + i));
        }

        assertThat(pending.get().pending()).hasSize(ClassTally.MOST_CLASSES + 1);
        assertThat(shown("zz-often", true).count()).isEqualTo(2);
        assertThat(shown("(other)", true).count()).isEqualTo(801 - ClassTally.MOST_CLASSES);
        assertThat(shown("(other)", true).oldest()).hasSeconds(399);
    }

    @Test
    void thatSomebodyMadeDoNotTakeTheSeriesOfClassesThatPodsWaitFor() {
        claims.add(claim(7, true, "zz-real"));
        for (int i = 0; i < 10; i++) {
            claims.add(claim(1, false, names("made-up-", ClassTally.MOST_CLASSES)));
        }

        assertThat(shown("zz-real", true).oldest()).hasSeconds(7);
        assertThat(shown("(other)", false).count()).isEqualTo(10);
    }

    @Test
    void ofAnyNumberOfNamesNeedABoundedMemory() {
        claims.add(claim(1, true, "first"));
        claims.add(claim(1, false, names("made-up-", 2 * ClassTally.MOST_NAMES)));
        claims.add(claim(40, false, "beyond"));
        claims.add(claim(50, false, "beyond"));
        claims.add(claim(60, true, "zz-real"));
        claims.add(claim(70, true, "first"));

        assertThat(shown("zz-real", true).oldest()).hasSeconds(60);
        assertThat(shown("first", true).count()).isEqualTo(2);
        assertThat(shown("(other)", false).oldest()).hasSeconds(50);
        assertThat(shown("(other)", false).count())
                .isEqualTo(2 * ClassTally.MOST_NAMES + 2 - (ClassTally.MOST_CLASSES - 2));
    }

    private static String[] names(String prefix, int number) {
        return IntStream.range(0, number).mapToObj(i -> prefix + i).toArray(String[]::new);
    }
}
