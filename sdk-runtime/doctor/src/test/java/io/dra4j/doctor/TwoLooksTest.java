// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TwoLooksTest {

    private static final String CANNOT_LOOK = "!";

    private final AtomicInteger pauses = new AtomicInteger();

    /** Reports on looks, each of which finds something about some objects. */
    private Report report(String... looks) {
        Deque<String> left = new ArrayDeque<>(List.of(looks));
        Report report = new TwoLooks(pauses::incrementAndGet)
                .report(() -> Report.of("audit", "cluster", List.of(check("check", left.remove()))));
        assertThat(left).as("looks that were not taken").isEmpty();
        return report;
    }

    private static Check check(String id, String objects) {
        return Check.of(id, () -> {
            if (objects.equals(CANNOT_LOOK)) {
                throw new NotCheckedException("the API server timed out");
            }
            List<String> found = objects.isEmpty() ? List.of() : List.of(objects.split(" "));
            return new CheckResult(
                    "3 objects",
                    found.stream().map(object -> finding(id, object)).toList());
        });
    }

    private static Finding finding(String id, String object) {
        return new Finding(id, Severity.ERROR, object, "what", "why", List.of("fix"));
    }

    @Test
    void whatIsHealthyIsLookedAtOnce() {
        assertThat(report("").exitStatus()).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(0);
    }

    @Test
    void whatIsFoundTwiceIsAFinding() {
        Report report = report("a b", "b c");
        assertThat(report.findings()).containsExactly(finding("check", "b"));
        assertThat(report.exitStatus()).isEqualTo(Report.FOUND);
        assertThat(report.text()).startsWith("audit: cluster\n").contains("FOUND        check");
        assertThat(pauses).hasValue(1);
    }

    @Test
    void whatIsFoundOnceChangedMeanwhile() {
        Report report = report("a", "b");
        assertThat(report.exitStatus()).isEqualTo(Report.HEALTHY);
        assertThat(report.text()).contains("ok           check  3 objects");
        assertThat(pauses).hasValue(1);
    }

    /** Reports on two looks of a check next to another one, whose finding stays. */
    private static Report besideAnother(String first, String second) {
        Deque<String> left = new ArrayDeque<>(List.of(first, second));
        return new TwoLooks(() -> {})
                .report(() -> Report.of("cluster", List.of(check("check", left.remove()), check("other", "stays"))));
    }

    @Test
    void whatCouldBeLookedAtOnceOnlyIsNeitherHealthyNorFound() {
        Report report = besideAnother(CANNOT_LOOK, "a b");

        assertThat(report.findings()).containsExactly(finding("other", "stays"));
        assertThat(report.json().lines().map(String::strip))
                .contains("\"reason\" : \"found once, for a; b; the first look failed: the API server"
                        + " timed out; run the command again\"");
        assertThat(besideAnother("a", CANNOT_LOOK).text())
                .contains("not checked  check  found once, for a; the second look failed: the API server");
        assertThat(besideAnother(CANNOT_LOOK, "").text()).contains("ok           check  3 objects");
    }

    @Test
    void aSecondLookThatFailsDoesNotLoseTheFirst() {
        Deque<String> left = new ArrayDeque<>(List.of("a"));
        Report report = new TwoLooks(() -> {}).report(() -> {
            if (left.isEmpty()) {
                throw new IllegalStateException("the server is gone");
            }
            return Report.of("cluster", List.of(check("check", left.remove()), check("healthy", "")));
        });

        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text())
                .contains("not checked  check    found once, for a; the second look failed: the server")
                .contains("ok           healthy  3 objects");
    }
}
