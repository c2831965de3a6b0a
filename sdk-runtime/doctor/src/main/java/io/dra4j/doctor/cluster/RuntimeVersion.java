// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import io.dra4j.rules.Release;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that the container runtimes of nodes with devices support CDI.
 *
 * <p>containerd has CDI from 1.7 on, where it is off by default, and enables it from 2.0 on; CRI-O has it from 1.23 on.
 * Only the node shows whether its configuration enables it.
 */
record RuntimeVersion(ClusterView cluster) implements Check {

    private static final String CONTAINERD = "containerd://";
    private static final String CRIO = "cri-o://";

    @Override
    public String id() {
        return "runtime-version";
    }

    @Override
    public CheckResult look() {
        List<NodeFacts> nodes = cluster.driverNodes();
        List<Finding> findings = new ArrayList<>();
        int configured = 0;
        for (NodeFacts node : nodes) {
            if (isBefore(node, CONTAINERD, 1, 7) || isBefore(node, CRIO, 1, 23)) {
                findings.add(finding(node));
            } else if (isBefore(node, CONTAINERD, 2, 0)) {
                configured++;
            }
        }
        String fact = CheckResult.number(nodes.size(), "node") + " with a runtime that has CDI";
        return new CheckResult(
                configured == 0
                        ? fact
                        : "%s; in containerd 1.7, on %s, it is off by default: `doctor` of the driver on the node checks"
                                .formatted(fact, CheckResult.number(configured, "node")),
                findings);
    }

    private static boolean isBefore(NodeFacts node, String runtime, int major, int minor) {
        return node.runtime().startsWith(runtime)
                && Release.of(node.runtime().substring(runtime.length()))
                        .filter(one -> one.isBefore(major, minor))
                        .isPresent();
    }

    private Finding finding(NodeFacts node) {
        return new Finding(
                id(),
                Severity.ERROR,
                "node/" + node.name(),
                "its container runtime is %s, which has no CDI".formatted(node.runtime()),
                "it ignores the devices of claims: containers start without them",
                List.of(
                        "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node.name()),
                        "# upgrade the runtime on the node: containerd 2.0 or newer, CRI-O 1.23 or newer",
                        "kubectl uncordon " + node.name()));
    }
}
