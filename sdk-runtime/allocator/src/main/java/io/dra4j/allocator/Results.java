// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeChoice;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.allocator.model.NodeSelector.Requirement;
import io.dra4j.allocator.model.NodeSelector.Term;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes allocations of the devices that a search took. */
record Results(Node node, List<Picks.Pick> taken) {

    Allocation of(Claim claim, int claimIndex) {
        List<Picks.Pick> picks = taken.stream()
                .filter(pick -> pick.plan().claimIndex() == claimIndex)
                .toList();
        return new Allocation(
                claim.fullName(), picks.stream().map(Results::device).toList(), nodes(picks));
    }

    private static AllocatedDevice device(Picks.Pick pick) {
        Device device = pick.candidate().device();
        return new AllocatedDevice(
                pick.plan().resultName(),
                pick.candidate().id(),
                pick.plan().asked().adminAccess(),
                pick.shared(),
                pick.consumed(),
                pick.plan().asked().tolerations(),
                device.bindingConditions(),
                device.bindingFailureConditions());
    }

    /** One local device pins the claim to the node; otherwise all selectors have to match. */
    private @Nullable NodeSelector nodes(List<Picks.Pick> picks) {
        Set<Requirement> labels = new LinkedHashSet<>();
        Set<Requirement> fields = new LinkedHashSet<>();
        for (Picks.Pick pick : picks) {
            Candidate candidate = pick.candidate();
            NodeChoice nodes = candidate.slice().perDevice()
                    ? candidate.device().nodes()
                    : candidate.slice().nodes();
            if (nodes.nodeName() != null || candidate.device().bindsToNode()) {
                return NodeSelector.ofNode(node.name());
            }
            if (nodes.selector() != null) {
                nodes.selector().terms().forEach(term -> labels.addAll(term.labels()));
                nodes.selector().terms().forEach(term -> fields.addAll(term.fields()));
            }
        }
        return labels.isEmpty() && fields.isEmpty()
                ? null
                : new NodeSelector(List.of(new Term(List.copyOf(labels), new ArrayList<>(fields))));
    }
}
