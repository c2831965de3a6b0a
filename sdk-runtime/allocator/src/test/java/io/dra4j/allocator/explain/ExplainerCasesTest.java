// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.AllocatorCase;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.StepClock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The named obstacles are those without which the scheduler's own allocator succeeds. */
@Tag("slow")
class ExplainerCasesTest {
    /** The time limit in steps of the clock: some searches without obstacles use all of it. */
    private static final Duration ATTEMPT = Duration.ofMillis(40);

    private final Map<Boolean, Allocator> allocators = new HashMap<>();

    private Allocator allocator(AllocatorCase one) {
        return allocators.computeIfAbsent(
                one.listAttributes(),
                lists -> Allocator.of(one.gates(), SchedulerBug.of(one.gates().version()), new StepClock())
                        .withTimeLimit(ATTEMPT));
    }

    private Explanation explain(AllocatorCase one) {
        Question question = new Question(one.cluster(), one.node(), one.claims());
        return new Explainer(allocator(one), InstantSource.system(), Duration.ofMinutes(5)).explain(question);
    }

    /** The sets of kinds that the file has for a case. */
    private static Set<Set<String>> expected(AllocatorCase one) {
        Set<Set<String>> sets = new HashSet<>();
        one.expected()
                .path("fitsWithout")
                .forEach(set ->
                        sets.add(set.valueStream().map(kind -> kind.asText()).collect(Collectors.toSet())));
        return sets;
    }

    private static Set<String> texts(Set<Kind> kinds) {
        return kinds.stream().map(Kind::text).collect(Collectors.toSet());
    }

    @Test
    void namesWhatIsInTheWay() {
        List<AllocatorCase> explained = AllocatorCase.all().stream()
                .filter(one -> one.expected().has("fitsWithout"))
                .toList();

        assertThat(explained).hasSizeGreaterThan(300).allSatisfy(this::namesWhatIsInTheWay);
    }

    private void namesWhatIsInTheWay(AllocatorCase one) {
        Explanation explanation = explain(one);

        Set<Set<String>> named =
                explanation.ways().stream().map(way -> texts(way.kinds())).collect(Collectors.toSet());
        assertThat(named).isEqualTo(expected(one));
        Question question = new Question(one.cluster(), one.node(), one.claims());
        for (Way way : explanation.ways()) {
            Question changed = ChangedQuestion.of(question, way.changes());
            assertThat(allocator(one).allocate(changed.cluster(), changed.node(), changed.claims()))
                    .isInstanceOf(Outcome.Allocated.class);
            assertThat(way.kinds())
                    .containsAll(way.changes().stream().map(Change::kind).toList());
        }
    }
}
