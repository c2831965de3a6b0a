// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;

/** Checks the kubelets of nodes with devices: before 1.34, DRA is off by default in them. */
record KubeletVersion(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "kubelet-version";
    }

    @Override
    public Result look() {
        List<NodeFacts> nodes = cluster.driverNodes();
        List<Finding> findings = new ArrayList<>();
        for (NodeFacts node : nodes) {
            if (Release.of(node.kubelet()).filter(Release::isWithoutDra).isPresent()) {
                findings.add(new Finding(
                        id(),
                        Severity.ERROR,
                        "node/" + node.name(),
                        "its kubelet is " + node.kubelet(),
                        "before 1.34 a kubelet does not call DRA drivers unless a feature"
                                + " gate is set, so that pods with claims never start there",
                        List.of(
                                "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node.name()),
                                "# upgrade the kubelet to 1.34 or newer on the node",
                                "kubectl uncordon " + node.name())));
            }
        }
        return new Result(Words.number(nodes.size(), "node") + " with 1.34 or newer", findings);
    }
}
