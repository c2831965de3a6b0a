// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.Given;
import io.dra4j.allocator.GivenCases;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Obstacle.Check;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
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
    void theOutcomeHasTheCheckThatFailedFirst() {
        Given given = new Given()
                .devices("""
                                {name: 'a'}, {name: 'b', attributes: {x: {int: 1}}},
                                {name: 'd', attributes: {x: {int: 2}}, taints: [{key: 'k', value: 'v', effect: 'NoExecute'}]}
                                """)
                .held("a", "")
                .claim("selectors: [{cel: {expression: 'device.attributes[\"drv.example\"].x > 1'}}]");

        Outcome.DoesNotFit refused = (Outcome.DoesNotFit) explain(given).outcome();
        RequestObstacles request = refused.requests().get(0);

        assertThat(request.claim()).isEqualTo("ns/c0");
        assertThat(request.request()).isEqualTo("r");
        assertThat(request.wanted()).isEqualTo(1);
        assertThat(request.most()).isZero();
        assertThat(request.devices().values())
                .extracting(Obstacle::check, Obstacle::text)
                .containsExactly(
                        tuple(Check.IN_USE, "in use by ns/h0"),
                        tuple(
                                Check.REQUEST_SELECTOR,
                                "selector #0 of the request does not match: device.attributes[\"drv.example\"].x > 1"),
                        tuple(Check.TAINT, "has taint k=v:NoExecute, which the request does not tolerate"));
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
}
