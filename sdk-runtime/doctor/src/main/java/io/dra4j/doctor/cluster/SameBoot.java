// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.List;
import java.util.function.Supplier;

/**
 * Checks that this is the machine, and the boot, that the kubelet reports.
 *
 * @param here reads the boot id that the driver sees, or throws NotCheckedException
 */
record SameBoot(ClusterView cluster, Supplier<String> here) implements Check {

    @Override
    public String id() {
        return "boot-id";
    }

    @Override
    public Result look() {
        String local = here.get();
        String reported = cluster.nodes().stream()
                .map(NodeFacts::bootId)
                .filter(id -> !id.isEmpty())
                .findFirst()
                .orElseThrow(() -> new NotCheckedException("the Node has no boot id"));
        if (reported.equals(local)) {
            return Result.healthy("boot " + local);
        }
        return new Result(
                "",
                List.of(new Finding(
                        id(),
                        Severity.ERROR,
                        "node/" + cluster.node(),
                        "its kubelet reports the boot %s, and this machine is in boot %s".formatted(reported, local),
                        "either this is another machine than --node-name says, or --proc-root is"
                                + " not the node's /proc, or the kubelet is down since the reboot;"
                                + " by the boot id the driver knows which claims are still prepared",
                        List.of(
                                "cat /proc/sys/kernel/random/boot_id",
                                "kubectl get node %s -o jsonpath='{.status.nodeInfo.bootID}'".formatted(cluster.node()),
                                "systemctl status kubelet"))));
    }
}
