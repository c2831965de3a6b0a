// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A random cluster in which nothing is wrong: releases, runtimes, names and drivers vary, and some
 * nodes have device plugins for other devices, the label of a MIG manager that is off, or no
 * driver; one pool spans nodes.
 */
public final class HealthyCluster {

    private static final List<String> SERVERS =
            List.of("v1.34.0", "v1.34.1+k3s1", "v1.35.2-gke.1200", "v1.36.2", "v1.37.0-rc.0");
    private static final List<String> RUNTIMES = List.of(
            "containerd://1.7.27",
            "containerd://2.0.5",
            "containerd://2.1.4-k3s1",
            "cri-o://1.34.1",
            "containerd://v2.2.0");
    private static final List<String> DRIVERS =
            List.of("gpu.nvidia.com", "gpu.example.com", "dra.net", "gpu.intel.com");

    final FakeCluster api;
    final List<String> nodes = new ArrayList<>();
    final List<String> drivers = new ArrayList<>();
    final List<String> withDevices = new ArrayList<>();
    private final Random random;

    public HealthyCluster(Random random) {
        this.random = random;
        this.api = new FakeCluster(one(SERVERS));
        int number = 1 + random.nextInt(6);
        for (int i = 0; i < number; i++) {
            node(i);
        }
        spanningPool();
        fleets();
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private void node(int number) {
        String name = one(List.of("node-%d", "ip-10-0-0-%d.ec2.internal", "gpu%d", "a.b.c.n%d"))
                .formatted(number);
        String driver = one(DRIVERS);
        nodes.add(name);
        drivers.add(driver);
        ObjectNode node = api.node(name, one(SERVERS), one(RUNTIMES));
        ObjectNode labels = node.withObject("/metadata/labels");
        ObjectNode allocatable = node.withObject("/status/allocatable");
        api.lease(name, Instant.from(FakeCluster.NOW).minusSeconds(random.nextInt(40)));
        if (random.nextInt(3) == 0) {
            // A node of the control plane, or of pods without devices: an old kubelet does no harm.
            node.withObject("/status/nodeInfo").put("kubeletVersion", "v1.33.4");
            allocatable.put("nvidia.com/gpu", "8");
            return;
        }
        allocatable.put("nvidia.com/gpu", "0").put("example.com/fpga", "2");
        allocatable.put("intel.com/sriov_nic", "16").put("nvidia.com/cc-license", "1");
        slices(driver, name, labels);
        withDevices.add(name);
    }

    /** A pool with a slice for each of some nodes. */
    private void spanningPool() {
        String driver = one(DRIVERS);
        for (String node : withDevices) {
            ObjectNode slice = api.slice(driver, node, "fabric-" + node, withDevices.size());
            slice.withObject("/spec/pool").put("name", "fabric");
        }
    }

    private void slices(String driver, String node, ObjectNode labels) {
        int number = 1 + random.nextInt(3);
        boolean dynamic = driver.equals("gpu.nvidia.com") && random.nextBoolean();
        for (int i = 0; i < number; i++) {
            ObjectNode slice = api.slice(driver, node, node + "-" + i, number);
            if (dynamic) {
                FakeCluster.partition(slice, "mig");
            } else if (random.nextBoolean()) {
                FakeCluster.partition(slice, "gpu"); // as for virtual machines
            }
        }
        if (random.nextBoolean()) {
            ObjectNode old = api.slice(driver, node, node + "-old", 9);
            old.withObject("/spec/pool").put("generation", 2);
        }
        if (dynamic) {
            labels.put("nvidia.com/gpu.deploy.mig-manager", "false");
        }
        labels.put("nvidia.com/mig.config", "all-disabled");
    }

    /** One driver for all nodes, or two that share them out. */
    private void fleets() {
        api.daemonSet("kube-system", "kube-proxy", "kube-proxy", nodes.toArray(String[]::new));
        int middle = random.nextInt(nodes.size() + 1);
        api.daemonSet(
                "dra-nvidia",
                "gpus",
                "/usr/bin/gpu-kubelet-plugin",
                nodes.subList(0, middle).toArray(String[]::new));
        if (random.nextBoolean()) {
            api.daemonSet(
                    "gpu-operator",
                    "dra-kubelet-plugin",
                    "bash -c gpu-kubelet-plugin -v 4",
                    nodes.subList(middle, nodes.size()).toArray(String[]::new));
        }
    }
}
