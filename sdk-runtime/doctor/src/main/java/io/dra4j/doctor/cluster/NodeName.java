// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.util.List;

/** Checks that there is a Node of the name that the driver was given. */
record NodeName(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "node-name";
    }

    @Override
    public CheckResult look() {
        if (!cluster.nodes().isEmpty()) {
            return CheckResult.healthy("there is a Node " + cluster.node());
        }
        return new CheckResult(
                "",
                List.of(
                        new Finding(
                                id(),
                                Severity.ERROR,
                                "node/" + cluster.node(),
                                "there is no Node of this name; the kubelet may have registered by another, such as one with a domain",
                                "a driver of this name publishes nothing: the Node owns its slices",
                                List.of(
                                        "kubectl get nodes -o custom-columns=NAME:.metadata.name,HOST:.status.addresses[?(@.type==\"Hostname\")].address",
                                        "# give that name; a driver gets it by NODE_NAME, in a DaemonSet from the field spec.nodeName"))));
    }
}
