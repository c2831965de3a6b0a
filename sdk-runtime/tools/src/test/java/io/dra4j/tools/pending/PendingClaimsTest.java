// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.pending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.ListedClaims;
import io.dra4j.testkit.Scenarios;
import io.dra4j.tools.pending.PendingClaims.ClassTally;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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

    @Scenarios("pending-scenarios.txt")
    void areCounted(String scenario) {
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ", 3);
            switch (words[0]) {
                case "#" -> {} // its title
                case "claim" -> {
                    String[] classes = words[2].split(" ");
                    boolean forPod = classes[0].equals("pod");
                    claims.add(claim(Long.parseLong(words[1]), forPod, Arrays.copyOfRange(classes, 1, classes.length)));
                }
                case "none" -> claims.clear();
                case "clock" -> now = START.plusSeconds(Long.parseLong(words[1]));
                case "away" -> away = true;
                case "back" -> away = false;
                case "broken" -> broken = true;
                case "error" -> assertThatThrownBy(pending::get).isInstanceOf(IllegalStateException.class);
                case "is" ->
                    assertThat(pending.get().pending().stream().map(PendingClaimsTest::text))
                            .containsExactlyInAnyOrder(
                                    line.length() < 3
                                            ? new String[0]
                                            : line.substring(3).split(", "));
                case "lists" ->
                    assertThat(limits).isEqualTo(Collections.nCopies(Integer.parseInt(words[1]), PendingClaims.LIMIT));
                case "failures" -> {
                    assertThat(pending.get().failures()).isEqualTo(Long.parseLong(words[1]));
                    assertThat(pending.problem()).isEqualTo(words.length > 2 ? words[2] : "");
                }
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private static String text(ListedClaims.OfClass one) {
        String by = one.forPod() ? "pod" : "hand";
        return "%s %s %d %d"
                .formatted(one.deviceClass(), by, one.count(), one.oldest().toSeconds());
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
