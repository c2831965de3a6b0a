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
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
                    .asString()
                    .contains("field nodeName: must be absent", "node-b");
        }
    }

    @Nested
    class Devices {

        @Test
        void havePlacementsIfAndOnlyIfThePoolLeavesItToThem() {
            assertThat(problems(new Placement.ThisNode(), new Placement.AllNodes()))
                    .singleElement()
                    .asString()
                    .contains(
                            "field devices[gpu-0]: must have no placement of its own", "AllNodes");
            assertThat(problems(new Placement.PerDevice(), null))
                    .singleElement()
                    .asString()
                    .contains("field devices[gpu-0]: must have one of nodeName", "found null");
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
        }

        private List<String> perDevice(Placement placement) {
            return problems(new Placement.PerDevice(), placement).stream()
                    .map(Problem::field)
                    .toList();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            LABEL | example.com/rack | IN             | 1,,a_B.c       |           |                    |
            LABEL | rack             | NOT_IN         | 1              |           |                    |
            LABEL | rack             | EXISTS         |                |           |                    |
            LABEL | rack             | DOES_NOT_EXIST |                |           |                    |
            LABEL | rack             | GREATER_THAN   | 17             |           |                    |
            LABEL | rack             | LESS_THAN      | 0              |           |                    |
            FIELD | metadata.name    | IN             | node-a         |           |                    |
            FIELD | metadata.name    | NOT_IN         | node-a.example |           |                    |
            LABEL | ''               | EXISTS         |                | key       | at most 63         | ""
            LABEL | a/b/c            | EXISTS         |                | key       | at most 63         | "a/b/c"
            LABEL | rack             | IN             |                | values    | not be empty       | []
            LABEL | rack             | NOT_IN         |                | values    | not be empty       | []
            LABEL | rack             | IN             | a,-            | values[1] | at most 63         | "-"
            LABEL | rack             | IN             | b c            | values[0] | at most 63         | "b c"
            LABEL | rack             | IN             | LONG           | values[0] | at most 63         | "vvv
            LABEL | rack             | EXISTS         | a              | values    | absent with Exists | [a]
            LABEL | rack             | DOES_NOT_EXIST | a              | values    | absent with Does   | [a]
            LABEL | rack             | GREATER_THAN   |                | values    | one whole number   | []
            LABEL | rack             | LESS_THAN      | 1,2            | values    | one whole number   | [1, 2]
            LABEL | rack             | LESS_THAN      | 1.5            | values    | one whole number   | [1.5]
            FIELD | spec.name        | IN             | a              | key       | metadata.name      | "spec.name"
            FIELD | metadata.name    | EXISTS         | a              | operator  | In or NotIn        | EXISTS
            FIELD | metadata.name    | IN             |                | values    | one value          | []
            FIELD | metadata.name    | IN             | a,b            | values    | one value          | [a, b]
            FIELD | metadata.name    | IN             | A              | values[0] | DNS subdomain      | "A"
            """)
    void aSelectorSaysWhatTheApiUnderstands(
            Subject subject,
            @Nullable String key,
            @Nullable Operator operator,
            @Nullable String values,
            @Nullable String field,
            @Nullable String rule,
            @Nullable String value) {
        String list = values == null ? "" : values.replace("LONG", "v".repeat(64));
        List<String> all = values == null ? List.of() : List.of(list.split(",", -1));
        Requirement requirement = new Requirement(key, operator, all, subject);
        Placement placement = new Placement.MatchingNodes(new NodeSelector(List.of(requirement)));
        String term =
                "field nodeSelector.nodeSelectorTerms[0].match%s[0].%s: must "
                        .formatted(subject == Subject.LABEL ? "Expressions" : "Fields", field);

        List<Problem> ofPool = problems(placement, null);

        if (field == null) {
            assertThat(ofPool).isEmpty();
        } else {
            assertThat(ofPool).singleElement().asString().contains(term, rule, "found " + value);
            assertThat(problems(new Placement.PerDevice(), placement))
                    .singleElement()
                    .asString()
                    .contains(term.replace("field ", "field devices[gpu-0]."))
                    .contains(rule, "found " + value);
        }
    }

    @Test
    void aSelectorHasARequirement() {
        assertThat(problems(new Placement.MatchingNodes(new NodeSelector(List.of())), null))
                .singleElement()
                .asString()
                .contains("nodeSelector.nodeSelectorTerms[0]: must have a requirement");
    }

    private static List<Problem> problems(Placement pool, @Nullable Placement device) {
        List<Device> devices = List.of(Device.builder("gpu-0").placement(device).build());
        return PoolRules.problems(Pool.builder("p").placement(pool).devices(devices).build());
    }
}
