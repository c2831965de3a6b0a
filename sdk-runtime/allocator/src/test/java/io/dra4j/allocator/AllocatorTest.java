// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.model.Node;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The allocator names the obstacles, and gives up in time. */
class AllocatorTest {
    private static final FeatureGates GATES = new FeatureGates(KubernetesVersion.V1_36, Map.of());
    private static final Allocator ALLOCATOR = Allocator.of(GATES);

    private static Outcome.DoesNotFit refused(Given given) {
        return (Outcome.DoesNotFit) given.allocate(ALLOCATOR);
    }

    @TestFactory
    List<DynamicTest> namesTheObstacles() throws IOException {
        return GivenCases.of("obstacles.json5");
    }

    @Test
    void anOldGenerationIsNotUsedWhileANewOneComes() {
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', devices: [{name: 'a'}]")
                .slice("p", 1, "nodeName: 'm', pool: {name: 'p', generation: 2, resourceSliceCount: 1}")
                .claim("");

        assertThat(refused(given).pools())
                .singleElement()
                .extracting(PoolObstacle::problem)
                .isEqualTo("is being replaced by a newer generation");
    }

    @Test
    void theSearchEndsAtItsTimeLimit() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            all.append("{name: 'd%d', attributes: {x: {int: %d}}},".formatted(i, i / 15));
        }
        Given given = new Given().devices(all.toString());
        given.requests("{name: 'r', exactly: {deviceClassName: 'c', count: 16}}", "{matchAttribute: 'drv.example/x'}");
        Allocator slow = Allocator.of(GATES, Set.of(), new StepClock()).withTimeLimit(Duration.ofMillis(20));

        assertThat(slow.allocate(given.cluster(), new Node("n", Map.of()), given.claims()))
                .isEqualTo(new Outcome.Failed("node n: timed out trying to allocate devices"));
    }

    @Test
    void nothingIsAllocatedToNoClaims() {
        assertThat(ALLOCATOR.allocate(new Given().cluster(), Given.NODE, List.of()))
                .isEqualTo(new Outcome.Allocated(List.of()));
    }

    @Test
    void anExpressionThatDoesNotCompileIsAnError() {
        Given given = new Given().devices("{name: 'a'}").claim("selectors: [{cel: {expression: '1 +'}}]");

        assertThat(((Outcome.Failed) given.allocate(ALLOCATOR)).message())
                .startsWith("claim ns/c0: selector #0: CEL compile error: compilation failed");
    }
}
