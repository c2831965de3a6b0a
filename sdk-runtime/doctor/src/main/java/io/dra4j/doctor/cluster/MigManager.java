// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that GPU Operator's MIG manager keeps off GPUs that the driver partitions itself.
 *
 * <p>It acts on the node label nvidia.com/mig.config. A driver that creates MIG devices when claims
 * are prepared publishes them with counters; whole GPUs have counters, too, if virtual machines may
 * have them.
 */
record MigManager(ClusterView cluster, boolean isDynamic) implements Check {

    private static final String LABEL = "nvidia.com/mig.config";
    private static final String DEPLOYED = "nvidia.com/gpu.deploy.mig-manager";
    private static final String DRIVER = "gpu.nvidia.com";

    @Override
    public String id() {
        return "mig-manager";
    }

    @Override
    public Result look() {
        List<Finding> findings = new ArrayList<>();
        List<NodeFacts> nodes =
                cluster.driverNodes().stream().filter(this::isDynamic).toList();
        for (NodeFacts node : nodes) {
            String layout = node.labels().getOrDefault(LABEL, "");
            boolean runs = !node.labels().getOrDefault(DEPLOYED, "true").equals("false");
            if (!layout.isEmpty() && runs) {
                findings.add(finding(node, layout));
            }
        }
        return new Result(
                nodes.isEmpty()
                        ? "no node with dynamic MIG"
                        : "%s with dynamic MIG, none with the label %s"
                                .formatted(Words.number(nodes.size(), "node"), LABEL),
                findings);
    }

    private boolean isDynamic(NodeFacts node) {
        return isDynamic
                || cluster.slicesOf(node).stream()
                        .anyMatch(slice -> slice.driver().equals(DRIVER) && slice.hasDynamicMig());
    }

    private Finding finding(NodeFacts node, String layout) {
        return new Finding(
                id(),
                Severity.ERROR,
                "node/" + node.name(),
                "GPU Operator's MIG manager applies the layout %s (label %s), and the driver creates MIG devices for claims"
                        .formatted(layout, LABEL),
                "each destroys or blocks the MIG devices of the other",
                List.of(
                        "kubectl label node %s %s=false --overwrite".formatted(node.name(), DEPLOYED),
                        "kubectl label node %s %s-".formatted(node.name(), LABEL)));
    }
}
