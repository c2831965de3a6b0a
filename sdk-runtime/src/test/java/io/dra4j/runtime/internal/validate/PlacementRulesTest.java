// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlacementRulesTest {

    private static final Placement RACK =
            new Placement.MatchingNodes(NodeSelector.labelIn("rack", "1"));

    @Nested
    class Pools {

        @Test
        void areOnThisNodeOrMatchingNodesOrAllNodesOrAsEachDeviceSays() {
            assertThat(problems(new Placement.ThisNode(), null)).isEmpty();
            assertThat(problems(new Placement.AllNodes(), null)).isEmpty();
            assertThat(problems(RACK, null)).isEmpty();
            assertThat(problems(new Placement.PerDevice(), RACK)).isEmpty();
        }

        @Test
        void areNotOnANamedNode() {
            assertThat(problems(new Placement.NamedNode("node-b"), null))
                    .singleElement()
                    .satisfies(
                            problem -> {
                                assertThat(problem.field()).isEqualTo("nodeName");
                                assertThat(problem.value()).contains("node-b");
                            });
        }
    }

    @Nested
    class Devices {

        @Test
        void havePlacementsIfAndOnlyIfThePoolLeavesItToThem() {
            assertThat(problems(new Placement.ThisNode(), new Placement.AllNodes()))
                    .extracting(Problem::field)
                    .containsExactly("devices[gpu-0]");
            assertThat(problems(new Placement.PerDevice(), null))
                    .extracting(Problem::field)
                    .containsExactly("devices[gpu-0]");
        }

        @Test
        void areOnANamedNodeOrMatchingNodesOrAllNodes() {
            assertThat(perDevice(new Placement.NamedNode("node-b.example"))).isEmpty();
            assertThat(perDevice(new Placement.AllNodes())).isEmpty();
            assertThat(perDevice(new Placement.NamedNode("")))
                    .containsExactly("devices[gpu-0].nodeName");
            assertThat(perDevice(new Placement.NamedNode("Node")))
                    .containsExactly("devices[gpu-0].nodeName");
            assertThat(perDevice(new Placement.ThisNode())).containsExactly("devices[gpu-0]");
            assertThat(perDevice(new Placement.PerDevice())).containsExactly("devices[gpu-0]");
            assertThat(perDevice(new Placement.PublishedElsewhere()))
                    .containsExactly("devices[gpu-0]");
            assertThat(perDevice(new Placement.MatchingNodes(null)))
                    .containsExactly("devices[gpu-0].nodeSelector");
        }

        private List<String> perDevice(Placement placement) {
            return problems(new Placement.PerDevice(), placement).stream()
                    .map(Problem::field)
                    .toList();
        }
    }

    record Case(Requirement requirement, @Nullable String field) {}

    static Stream<Case> requirements() {
        return Stream.of(
                fine(label("example.com/rack", Operator.IN, "1", "", "a_B.c")),
                fine(label("rack", Operator.NOT_IN, "1")),
                fine(label("rack", Operator.EXISTS)),
                fine(label("rack", Operator.DOES_NOT_EXIST)),
                fine(label("rack", Operator.GREATER_THAN, "17")),
                fine(label("rack", Operator.LESS_THAN, "0")),
                fine(field("metadata.name", Operator.IN, "node-a")),
                fine(field("metadata.name", Operator.NOT_IN, "node-a.example")),
                wrong(label("", Operator.EXISTS), "matchExpressions[0].key"),
                wrong(label("a/b/c", Operator.EXISTS), "matchExpressions[0].key"),
                wrong(label(null, Operator.EXISTS), "matchExpressions[0].key"),
                wrong(label("rack", null), "matchExpressions[0].operator"),
                wrong(label("rack", Operator.IN), "matchExpressions[0].values"),
                wrong(label("rack", Operator.NOT_IN), "matchExpressions[0].values"),
                wrong(label("rack", Operator.IN, "a", "-"), "matchExpressions[0].values[1]"),
                wrong(label("rack", Operator.IN, "v".repeat(64)), "matchExpressions[0].values[0]"),
                wrong(label("rack", Operator.EXISTS, "a"), "matchExpressions[0].values"),
                wrong(label("rack", Operator.DOES_NOT_EXIST, "a"), "matchExpressions[0].values"),
                wrong(label("rack", Operator.GREATER_THAN), "matchExpressions[0].values"),
                wrong(label("rack", Operator.LESS_THAN, "1", "2"), "matchExpressions[0].values"),
                wrong(label("rack", Operator.LESS_THAN, "1.5"), "matchExpressions[0].values"),
                wrong(field("spec.name", Operator.IN, "a"), "matchFields[0].key"),
                wrong(field("metadata.name", Operator.EXISTS, "a"), "matchFields[0].operator"),
                wrong(field("metadata.name", null, "a"), "matchFields[0].operator"),
                wrong(field("metadata.name", Operator.IN), "matchFields[0].values"),
                wrong(field("metadata.name", Operator.IN, "a", "b"), "matchFields[0].values"),
                wrong(field("metadata.name", Operator.IN, "A"), "matchFields[0].values[0]"));
    }

    @ParameterizedTest
    @MethodSource("requirements")
    void aSelectorSaysWhatTheApiUnderstands(Case given) {
        Placement placement =
                new Placement.MatchingNodes(new NodeSelector(List.of(given.requirement())));
        String term = "nodeSelector.nodeSelectorTerms[0].";

        if (given.field() == null) {
            assertThat(problems(placement, null)).isEmpty();
        } else {
            assertThat(problems(placement, null))
                    .extracting(Problem::field)
                    .containsExactly(term + given.field());
            assertThat(problems(new Placement.PerDevice(), placement))
                    .extracting(Problem::field)
                    .containsExactly("devices[gpu-0]." + term + given.field());
        }
    }

    @Test
    void aSelectorHasARequirement() {
        assertThat(problems(new Placement.MatchingNodes(new NodeSelector(List.of())), null))
                .extracting(Problem::field)
                .containsExactly("nodeSelector.nodeSelectorTerms[0]");
    }

    private static Case fine(Requirement requirement) {
        return new Case(requirement, null);
    }

    private static Case wrong(Requirement requirement, String field) {
        return new Case(requirement, field);
    }

    private static Requirement label(
            @Nullable String key, @Nullable Operator operator, String... values) {
        return new Requirement(key, operator, List.of(values), Subject.LABEL);
    }

    private static Requirement field(String key, @Nullable Operator operator, String... values) {
        return new Requirement(key, operator, List.of(values), Subject.FIELD);
    }

    private static List<Problem> problems(Placement pool, @Nullable Placement device) {
        List<Device> devices = List.of(Device.builder("gpu-0").placement(device).build());
        return PoolRules.problems(new Pool(new PoolName("p"), pool, devices, List.of()));
    }
}
