// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Checks that the nodes of slices exist: one may be removed, or have another name. */
record GoneNodes(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "node-gone";
    }

    @Override
    public Result look() {
        Set<String> nodes = cluster.nodes().stream().map(NodeFacts::name).collect(Collectors.toSet());
        Map<String, List<SliceFacts>> gone = new TreeMap<>();
        for (SliceFacts slice : cluster.slices()) {
            if (!slice.node().isEmpty() && !nodes.contains(slice.node())) {
                gone.computeIfAbsent(slice.node(), key -> new ArrayList<>()).add(slice);
            }
        }
        return new Result(
                "%s, each of a node that exists"
                        .formatted(Words.number(cluster.slices().size(), "slice")),
                gone.entrySet().stream()
                        .map(one -> finding(one.getKey(), one.getValue(), nodes))
                        .toList());
    }

    private Finding finding(String gone, List<SliceFacts> slices, Set<String> nodes) {
        String drivers = slices.stream().map(SliceFacts::driver).distinct().collect(Collectors.joining(", "));
        String names = slices.stream().map(SliceFacts::name).collect(Collectors.joining(" "));
        List<String> alike =
                nodes.stream().filter(node -> isSame(node, gone)).sorted().toList();
        if (alike.isEmpty()) {
            return new Finding(
                    id(),
                    Severity.WARNING,
                    "node/" + gone,
                    "there is no such node, and %s of %s on it"
                            .formatted(Words.number(slices.size(), "slice"), drivers),
                    "no pod can get their devices, and whoever counts devices counts them",
                    List.of("kubectl delete resourceslices " + names));
        }
        return new Finding(
                id(),
                Severity.ERROR,
                "node/" + gone,
                "there is no such node, but %s: the driver %s was started with another name than the kubelet's"
                        .formatted(String.join(", ", alike), drivers),
                "no pod can get these devices: they are on no node that the scheduler knows",
                List.of(
                        "# set NODE_NAME of the driver's DaemonSet from the field spec.nodeName",
                        "kubectl delete resourceslices " + names));
    }

    /** Returns whether names differ by case, or by a domain. */
    private static boolean isSame(String node, String other) {
        String one = node.toLowerCase(Locale.ROOT) + ".";
        String two = other.toLowerCase(Locale.ROOT) + ".";
        return one.startsWith(two) || two.startsWith(one);
    }
}
