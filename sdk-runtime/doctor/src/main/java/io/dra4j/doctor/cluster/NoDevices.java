// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.List;

/** Checks that the driver that is looked at publishes devices. */
record NoDevices(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "no-devices";
    }

    @Override
    public Result look() {
        if (cluster.nodes().isEmpty()) {
            throw new NotCheckedException("there is no such Node: node-name");
        }
        if (cluster.find("apis/resource.k8s.io/v1").isEmpty()) {
            throw new NotCheckedException("the server serves no slices: server-version");
        }
        int devices = cluster.slices().stream().mapToInt(SliceFacts::devices).sum();
        return devices > 0 ? Result.healthy(Words.number(devices, "device")) : new Result("", List.of(finding()));
    }

    private Finding finding() {
        String events = "kubectl get events --field-selector involvedObject.kind=Node";
        boolean isOfNode = cluster.hasNode();
        return new Finding(
                id(),
                Severity.ERROR,
                "driver/" + cluster.driver(),
                "it publishes no device" + (isOfNode ? " of node " + cluster.node() : ""),
                "no claim can get a device of it; its pods may run all the same",
                List.of(
                        isOfNode ? events + ",involvedObject.name=" + cluster.node() : events,
                        "kubectl get pods --all-namespaces --output wide    # does its pod run there?",
                        "kubectl --namespace NAMESPACE logs POD    # it says what is left out, and why"));
    }
}
