// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Checks that only one DaemonSet runs a driver named gpu.nvidia.com on a node.
 *
 * <p>NVIDIA's own comes with a chart or GPU Operator; its program is gpu-kubelet-plugin, and ours has the same name in
 * the image.
 */
record TwoDrivers(ClusterView cluster) implements Check {

    private static final Pattern PROGRAM =
            Pattern.compile("(^|[/\\s])(gpu-kubelet-plugin|dra4j-nvidia-driver)($|[\\s:@])");

    @Override
    public String id() {
        return "two-drivers";
    }

    @Override
    public CheckResult look() {
        Map<String, JsonNode> sets = new TreeMap<>();
        cluster.list("apis/apps/v1/daemonsets", set -> {
            if (runsDriver(set.at("/spec/template/spec/containers"))) {
                sets.put(name(set), set);
            }
        });
        if (sets.size() < 2) {
            return CheckResult.healthy(CheckResult.number(sets.size(), "DaemonSet") + " of gpu.nvidia.com");
        }
        List<Finding> findings = new ArrayList<>();
        setsByNode(sets).forEach((node, running) -> {
            if (running.size() > 1) {
                findings.add(finding(node, running));
            }
        });
        return new CheckResult(sets.size() + " DaemonSets of gpu.nvidia.com, on different nodes", findings);
    }

    private static boolean runsDriver(JsonNode containers) {
        for (JsonNode container : containers) {
            List<String> words = new ArrayList<>(List.of(container.path("image").asText()));
            container.path("command").forEach(word -> words.add(word.asText()));
            container.path("args").forEach(word -> words.add(word.asText()));
            if (words.stream().anyMatch(word -> PROGRAM.matcher(word).find())) {
                return true;
            }
        }
        return false;
    }

    private static String name(JsonNode object) {
        return object.at("/metadata/namespace").asText()
                + "/"
                + object.at("/metadata/name").asText();
    }

    private Map<String, TreeSet<String>> setsByNode(Map<String, JsonNode> sets) {
        Map<String, TreeSet<String>> byNode = new TreeMap<>();
        List<String> namespaces = sets.values().stream()
                .map(set -> set.at("/metadata/namespace").asText())
                .distinct()
                .toList();
        for (String namespace : namespaces) {
            cluster.list("api/v1/namespaces/" + namespace + "/pods", pod -> {
                for (JsonNode owner : pod.at("/metadata/ownerReferences")) {
                    String set = namespace + "/" + owner.path("name").asText();
                    String node = pod.at("/spec/nodeName").asText();
                    boolean ends = pod.at("/metadata").has("deletionTimestamp");
                    if (sets.containsKey(set) && !node.isEmpty() && !ends) {
                        byNode.computeIfAbsent(node, key -> new TreeSet<>()).add(set);
                    }
                }
            });
        }
        return byNode;
    }

    private Finding finding(String node, TreeSet<String> sets) {
        String last = sets.last();
        return new Finding(
                id(),
                Severity.ERROR,
                "node/" + node,
                "the DaemonSets %s both run a driver gpu.nvidia.com".formatted(String.join(" and ", sets)),
                "they overwrite each other's ResourceSlices, the kubelet calls only one of them, and"
                        + " GPUs of claims that the other holds are allocated again",
                List.of(
                        "# keep one of them. By GPU Operator: kubectl get gpuclusters,clusterpolicies"
                                + " -o yaml, and remove spec.draDriver or the GPUCluster. By a chart:",
                        "helm uninstall RELEASE --namespace " + last.split("/")[0]));
    }
}
