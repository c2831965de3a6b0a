// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

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
}
