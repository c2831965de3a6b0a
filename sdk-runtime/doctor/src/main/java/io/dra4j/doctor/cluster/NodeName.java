// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.util.List;

/** Checks that a Node exists with the name that the driver was given. */
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
        return CheckResult.found(
                new Finding(
                        id(),
                        Severity.ERROR,
                        "node/" + cluster.node(),
                        "no Node has this name; the kubelet may have registered with another name, such as one with a domain",
                        "a driver with this name publishes nothing, because the Node owns its slices",
                        List.of(
                                "kubectl get nodes -o custom-columns=NAME:.metadata.name,HOST:.status.addresses[?(@.type==\"Hostname\")].address",
                                "# use that name; a driver gets it from NODE_NAME, in a DaemonSet from the field spec.nodeName")));
    }
}
