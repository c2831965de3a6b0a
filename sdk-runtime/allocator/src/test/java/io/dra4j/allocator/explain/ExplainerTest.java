// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.AllocatorCase;
import io.dra4j.allocator.Given;
import io.dra4j.allocator.GivenCases;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.StepClock;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Explanations name devices, reasons and the fewest changes. */
class ExplainerTest {

    private static final Allocator ALLOCATOR = Allocator.of(new FeatureGates(KubernetesVersion.V1_36, Map.of()));

    private static Explanation explain(Given given, Duration limit) {
        return new Explainer(ALLOCATOR, InstantSource.system(), limit)
                .explain(new Question(given.cluster(), Given.NODE, given.claims()));
    }

    private static Explanation explain(Given given) {
        return explain(given, Duration.ofMinutes(1));
    }

    private static List<String> smallest(Explanation explanation) {
        return explanation.smallest().orElseThrow().changes().stream()
                .map(Change::text)
                .toList();
    }

    @TestFactory
    List<DynamicTest> namesTheFewestChanges() throws IOException {
        return GivenCases.of("explanations.json5", ExplainerTest::check);
    }

    /** The first ways are compared, and of each the changes in any order. */
    private static void check(Given given, JsonNode expected) {
        Explanation explanation = explain(given);

        List<List<String>> first =
                expected.path("ways").valueStream().map(GivenCases::texts).toList();
        List<List<String>> ways = explanation.ways().stream()
                .limit(first.size())
                .map(way -> way.changes().stream().map(Change::text).sorted().toList())
                .toList();
        assertThat(ways).isEqualTo(first);
        if (expected.has("kinds")) {
            assertThat(explanation.kinds().stream().map(Kind::name))
                    .isEqualTo(GivenCases.texts(expected.path("kinds")));
        }
        assertThat(explanation.outcome() instanceof Outcome.Failed failed ? failed.message() : "")
                .isEqualTo(expected.path("error").asText());
    }

    @Test
    void onlyTheClaimsThatAreNeededAreReleased() {
        Given given = new Given().devices("{name: 'a'}, {name: 'b'}, {name: 'd'}");
        given.held("a", "").held("b", "").held("d", "").claim("count: 2");

        Explanation explanation = explain(given);

        assertThat(explanation.kinds()).containsExactly(Kind.HOLDERS);
        assertThat(explanation.smallest().orElseThrow().changes()).hasSize(2);
        assertThat(smallest(explanation)).allMatch(text -> text.startsWith("release the devices of claim ns/h"));
    }

    @Test
    void threeKindsAreNotTakenAwayTogether() {
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', sharedCounters: [{name: 's', counters: {m: {value: 1}}}]")
                .slice("p", 2, """
                                nodeName: 'n', devices: [
                                  {name: 'a', attributes: {x: {int: 1}}, capacity: {m: {value: 2}},
                                   consumesCounters: [{counterSet: 's', counters: {m: {value: 2}}}]}]
                                """)
                .requests(
                        "{name: 'r', exactly: {deviceClassName: 'c', capacity: {requests: {m: 3}}}}",
                        "{matchAttribute: 'drv.example/y'}");

        Question question = new Question(given.cluster(), Given.NODE, given.claims());

        assertThat(explain(given).ways()).isEmpty();
        assertThat(Stream.of(Kind.COUNTERS, Kind.CONSTRAINTS, Kind.CAPACITY_REQUESTS)
                        .flatMap(kind -> new Changes(question).of(kind).stream())
                        .map(Change::text))
                .containsExactly(
                        "free counters of pool drv.example/p",
                        "remove constraint #0 of claim ns/c0: matchAttribute drv.example/y",
                        "do not request capacity m in request r of claim ns/c0");
    }

    @Test
    void noAttemptBeginsAfterTheTimeLimit() {
        Given given = new Given().devices("{name: 'a'}").held("a", "").claim("");

        Explanation inTime = explain(given);
        Explanation late = explain(given, Duration.ofSeconds(-1));

        assertThat(inTime.ways()).isNotEmpty();
        assertThat(inTime.complete()).isTrue();
        assertThat(late.ways()).isEmpty();
        assertThat(late.complete()).isFalse();
    }

    @Test
    void theLargestAmountThatIsLeftAndAllowedIsAskedFor() {
        Given given = new Given().devices("""
                                {name: 'a', allowMultipleAllocations: true, capacity: {m: {value: '10Gi',
                                 requestPolicy: {default: '1Gi', validRange: {min: '1Gi', step: '2Gi'}}}}},
                                {name: 'b', capacity: {m: {value: '4Gi'}}}
                                """).claim("capacity: {requests: {m: '16Gi'}}");
        Question question = new Question(given.cluster(), Given.NODE, given.claims());
        Outcome.DoesNotFit refused = (Outcome.DoesNotFit) explain(given).outcome();

        Explainer explainer = new Explainer(ALLOCATOR, InstantSource.system(), Duration.ofMinutes(1));

        assertThat(explainer.withLessCapacity(question, refused).orElseThrow().changes())
                .extracting(Change::text)
                .containsExactly("ask for 9Gi of m in request r of claim ns/c0");
    }

    @Nested
    @Tag("slow")
    class OfRecordedCases {

        /** The time limit in steps of the clock: some searches without obstacles use all of it. */
        private static final Duration ATTEMPT = Duration.ofMillis(40);

        private final Map<Boolean, Allocator> allocators = new HashMap<>();

        private Allocator allocator(AllocatorCase one) {
            return allocators.computeIfAbsent(
                    one.listAttributes(),
                    lists -> Allocator.of(
                                    one.gates(), SchedulerBug.of(one.gates().version()), new StepClock())
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
                    .forEach(set -> sets.add(
                            set.valueStream().map(kind -> kind.asText()).collect(Collectors.toSet())));
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
}
