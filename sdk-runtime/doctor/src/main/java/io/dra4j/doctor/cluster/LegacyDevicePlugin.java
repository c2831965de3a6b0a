// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;

/** Checks that no device plugin also offers the devices of a driver. */
record LegacyDevicePlugin(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "legacy-device-plugin";
    }

    @Override
    public CheckResult look() {
        List<NodeFacts> nodes = cluster.driverNodes();
        List<Finding> findings = new ArrayList<>();
        for (NodeFacts node : nodes) {
            for (String driver : cluster.driversOf(node)) {
                List<String> offered = LegacyResources.offered(driver, node);
                if (!offered.isEmpty()) {
                    findings.add(finding(node, driver, offered));
                }
            }
        }
        return new CheckResult(
                "%s without a device plugin for the same devices".formatted(CheckResult.number(nodes.size(), "node")),
                findings);
    }

    private Finding finding(NodeFacts node, String driver, List<String> offered) {
        return new Finding(
                id(),
                Severity.ERROR,
                "node/" + node.name(),
                "a device plugin offers %s in addition to the driver %s".formatted(String.join(", ", offered), driver),
                "kubelet and scheduler do not know that these are the same devices, so each device can be given to two pods at the same time",
                fix(node.name(), driver.equals("gpu.nvidia.com")));
    }

    private static List<String> fix(String node, boolean nvidia) {
        List<String> fix = new ArrayList<>();
        fix.add("kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node));
        if (nvidia) {
            fix.add("kubectl label node %s nvidia.com/gpu.deploy.device-plugin=false --overwrite".formatted(node));
            fix.add("# or, without GPU Operator, by the node selector of the plugin's DaemonSet");
        } else {
            fix.add("# keep the device plugin off the node, by its DaemonSet's node selector");
        }
        fix.add("kubectl uncordon " + node);
        return fix;
    }
}
