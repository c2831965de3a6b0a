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
import io.dra4j.runtime.internal.cluster.SliceCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class PlacementRulesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final Placement RACK = new Placement.MatchingNodes(NodeSelector.labelIn("rack", "1"));

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
                    .contains("field devices[gpu-0]", "perDeviceNodeSelection");
            assertThat(problems(new Placement.PerDevice(), null))
                    .singleElement()
                    .asString()
                    .contains("field devices[gpu-0]", "nodeName", "allNodes");
        }

        @Test
        void areOnANamedNodeOrMatchingNodesOrAllNodes() {
            assertThat(perDevice(new Placement.NamedNode("node-b.example"))).isEmpty();
            assertThat(perDevice(new Placement.AllNodes())).isEmpty();
            assertThat(perDevice(new Placement.NamedNode(""))).contains("devices[gpu-0].nodeName");
            assertThat(perDevice(new Placement.NamedNode("Node"))).containsExactly("devices[gpu-0].nodeName");
            assertThat(perDevice(new Placement.ThisNode())).containsExactly("devices[gpu-0]");
            assertThat(perDevice(new Placement.PerDevice())).containsExactly("devices[gpu-0]");
            assertThat(perDevice(new Placement.PublishedElsewhere())).containsExactly("devices[gpu-0]");
        }

        private List<String> perDevice(Placement placement) {
            return problems(new Placement.PerDevice(), placement).stream()
                    .map(Problem::field)
                    .toList();
        }
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/runtime/internal/validate/selectors.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void aSelectorSaysWhatTheApiUnderstands(
            Subject subject,
            @Nullable String key,
            @Nullable Operator operator,
            @Nullable String values,
            @Nullable String field,
            @Nullable String words) {
        String list = values == null ? "" : values.replace("LONG", "v".repeat(64));
        List<String> all = values == null ? List.of() : List.of(list.split(",", -1));
        Requirement requirement = new Requirement(key, operator, all, subject);
        Placement placement = new Placement.MatchingNodes(new NodeSelector(List.of(requirement)));
        String term = "nodeSelector.nodeSelectorTerms[0].match%s[0].%s: %s"
                .formatted(subject == Subject.LABEL ? "Expressions" : "Fields", field, words == null ? "" : words);

        List<Problem> ofPool = problems(placement, null);

        if (field == null) {
            assertThat(ofPool).isEmpty();
        } else {
            assertThat(ofPool).anySatisfy(it -> assertThat(it.toString()).contains(term));
            assertThat(ofPool).extracting(Problem::device).containsOnlyNulls();
            assertThat(problems(new Placement.PerDevice(), placement))
                    .anySatisfy(it -> assertThat(it.toString()).contains("devices[gpu-0]." + term))
                    .extracting(Problem::device)
                    .doesNotContainNull();
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
        return RULES.problems(Pool.builder("p").placement(pool).devices(devices).build());
    }
}
