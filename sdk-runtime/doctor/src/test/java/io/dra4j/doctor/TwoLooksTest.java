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

    private final AtomicInteger pauses = new AtomicInteger();

    /** Reports on looks, each of which finds something about some objects. */
    private Report report(String... looks) {
        Deque<String> left = new ArrayDeque<>(List.of(looks));
        Report report =
                new TwoLooks(pauses::incrementAndGet)
                        .report(() -> Report.of("audit", "cluster", List.of(check(left.remove()))));
        assertThat(left).as("looks that were not taken").isEmpty();
        return report;
    }

    private static Check check(String objects) {
        return new Check() {
            @Override
            public String id() {
                return "check";
            }

            @Override
            public Result look() {
                List<String> found = objects.isEmpty() ? List.of() : List.of(objects.split(" "));
                return new Result("3 objects", found.stream().map(TwoLooksTest::finding).toList());
            }
        };
    }

    private static Finding finding(String object) {
        return new Finding("check", Severity.ERROR, object, "what", "why", List.of("mend"));
    }

    @Test
    void whatIsHealthyIsLookedAtOnce() {
        assertThat(report("").exitStatus()).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(0);
    }

    @Test
    void whatIsFoundTwiceIsAFinding() {
        Report report = report("a b", "b c");
        assertThat(report.findings()).containsExactly(finding("b"));
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
}
