// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerWordsTest {
    @Test
    void reasonsThatAreNotOfClaimsAreFound() {
        String words = "Unschedulable: 0/5 nodes are available: 1 Insufficient cpu, 1 cannot allocate all"
                + " claims, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: },"
                + " 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/5 nodes"
                + " are available: 5 No preemption victims found for incoming pod.";

        assertThat(SchedulerWords.reasonsBesidesClaims(List.of(words)))
                .containsExactly(
                        "Insufficient cpu", "node(s) had untolerated taint {node.kubernetes.io/unreachable: }");
        assertThat(SchedulerWords.reasonsBesidesClaims(List.of(
                        "Unschedulable: 0/1 nodes are available: 1 cannot allocate all claims.",
                        "And the kubelet: FailedPrepareDynamicResources: no.")))
                .isEmpty();
    }

    private static JsonNode tree(String yaml) throws IOException {
        return new YAMLMapper().readTree(yaml);
    }

    @Test
    void theLastWordOfEachComponentIsTaken() throws IOException {
        JsonNode refused = tree("{status: {conditions: [{type: Ready, status: 'False', reason: Late, message: later},"
                + " {type: PodScheduled, status: 'False', reason: Unschedulable, message: full}]}}");
        JsonNode placed = tree("{spec: {nodeName: a},"
                + " status: {conditions: [{type: PodScheduled, status: 'True', reason: Done, message: done}]}}");
        List<JsonNode> events = List.of(
                tree("{reason: FailedPrepareDynamicResources, message: busy, lastTimestamp: 2026-11-24T12:00:00Z}"),
                tree("{reason: FailedScheduling, message: new, eventTime: 2026-11-24T12:00:01Z, lastTimestamp: null}"),
                tree("{reason: FailedScheduling, message: old, lastTimestamp: 2026-11-24T12:00:00Z}"));
        String ofKubelet = "And the kubelet: FailedPrepareDynamicResources: busy";

        assertThat(SchedulerWords.of(refused, events)).containsExactly("Unschedulable: full", ofKubelet);
        assertThat(SchedulerWords.of(tree("{}"), events)).containsExactly("FailedScheduling: new", ofKubelet);
        assertThat(SchedulerWords.of(placed, List.of())).isEmpty();
        assertThat(SchedulerWords.of(tree("{}"), List.of()))
                .containsExactly("Nothing, neither a condition nor an Event: it has not tried this pod.");
    }
}
