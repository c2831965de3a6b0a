// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The answers are those of the scheduler's own allocator. */
class AllocatorCasesTest {
    /** A busy machine takes longer than a scheduler would. */
    private static final InstantSource STOPPED = InstantSource.fixed(Instant.EPOCH);

    private static Map<String, ObjectNode> expected() {
        Map<String, ObjectNode> expected = new HashMap<>();
        for (AllocatorCase one : AllocatorCase.all()) {
            ObjectNode answer = one.expected().deepCopy();
            answer.remove("fitsWithout");
            expected.put(one.name(), answer);
        }
        return expected;
    }

    private static List<String> differences(boolean asReleased) {
        Map<String, ObjectNode> expected = expected();
        Map<Boolean, Allocator> allocators = new HashMap<>();
        List<String> differences = new ArrayList<>();
        for (AllocatorCase one : AllocatorCase.all()) {
            Allocator allocator = allocators.computeIfAbsent(one.listAttributes(), key -> allocator(one, asReleased));
            Outcome outcome = allocator.allocate(one.cluster(), one.node(), one.claims());
            ObjectNode answer = AnswerJson.of(outcome);
            if (!answer.equals(expected.get(one.name())) && (asReleased || !one.isDecidedByBugs())) {
                differences.add("%s: %s, expected %s".formatted(one.name(), answer, expected.get(one.name())));
            }
        }
        return differences;
    }

    private static Allocator allocator(AllocatorCase one, boolean asReleased) {
        Set<SchedulerBug> bugs = asReleased ? SchedulerBug.of(one.gates().version()) : Set.of();
        return Allocator.of(one.gates(), bugs, STOPPED);
    }

    @Test
    void theFileIsComplete() {
        assertThat(AllocatorCase.all()).hasSize(1200);
    }

    @Test
    void agreesWithTheRelease() {
        assertThat(differences(true)).isEmpty();
    }

    @Test
    void agreesWithoutTheBugsWhereTheyDecideNothing() {
        assertThat(differences(false)).isEmpty();
    }
}
