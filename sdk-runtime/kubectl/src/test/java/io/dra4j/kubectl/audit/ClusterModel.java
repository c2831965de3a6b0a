// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.NodeInfo;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.KubernetesVersion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** A cluster with GPUs, halves of a card, a shared link, claims and pods; tests then change it. */
final class ClusterModel {

    private static final ObjectMapper JSON = new ObjectMapper();

    final Set<String> nodes = new LinkedHashSet<>();
    final List<PodInfo> pods = new ArrayList<>();
    final List<String> unread = new ArrayList<>();
    String counter = "80Gi"; // of the card, of which each half takes 40Gi
    private final Map<String, List<String>> devices = new LinkedHashMap<>(); // by node
    private final List<Slice> more = new ArrayList<>();
    private final Map<String, ClaimInfo> claims = new LinkedHashMap<>();
    private int number;

    /** Creates a healthy cluster. */
    ClusterModel(Random random) {
        int count = 1 + random.nextInt(4);
        for (int n = 0; n < count; n++) {
            String node = "node-" + n;
            nodes.add(node);
            devices.put(node, new ArrayList<>());
            int gpus = 1 + random.nextInt(4);
            for (int g = 0; g < gpus; g++) {
                devices.get(node).add("gpu-" + g);
                if (n + g == 0 || random.nextBoolean()) {
                    hold(node, "gpu-" + g);
                }
            }
            if (random.nextInt(3) == 0) {
                add(result("gpu", node, "gpu-0", ",\"adminAccess\":true"));
            }
        }
        add(result("card", "card", "half-0", ""));
        add(result("card", "card", "half-1", ""));
        share("10Gi", "20Gi");
        pods.add(new PodInfo("default", "free", "free", "", false, List.of("not-yet")));
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    private static String result(String driver, String pool, String device, String more) {
        return """
               {"request":"r","driver":"%s.example.com","pool":"%s","device":"%s"%s}""".formatted(driver, pool, device, more);
    }

    /** Lets one more claim have a device, and a pod the claim. */
    void hold(String node, String device) {
        add(result("gpu", node, device, ""));
    }

    /** Lets claims have shares of the link, so much each. */
    void share(String... amounts) {
        for (String amount : amounts) {
            shareOf("bandwidth", amount);
        }
    }

    /** Lets a claim have a share of the link, by one form of the capacity's name. */
    void shareOf(String capacity, String amount) {
        String more = ",\"shareID\":\"s-%d\",\"consumedCapacity\":{\"%s\":\"%s\"}".formatted(number, capacity, amount);
        add(result("net", "fabric", "link", more));
    }

    private void add(String result) {
        String name = "claim-" + number;
        String pod = "pod-" + number++;
        JsonNode claim = json("""
                        {"metadata":{"namespace":"default","name":"%s"},
                         "status":{"allocation":{"devices":{"results":[%s]}}}}""".formatted(name, result));
        claims.put("default/" + name, new ClaimInfo(Claim.of(claim), Map.of(pod, pod), false, "", ""));
        pods.add(new PodInfo("default", pod, pod, "node-0", false, List.of(name)));
    }

    /** Withdraws a device. */
    void remove(String node, String device) {
        devices.get(node).remove(device);
    }

    /** Withdraws all slices of a node. */
    void remove(String node) {
        devices.remove(node);
    }

    /** Publishes one more slice with the devices of a node, in a pool with this number of slices. */
    void publish(String node, long generation, int slicesOfPool) {
        more.add(slice(node, "-" + generation, generation, slicesOfPool));
    }

    private Slice slice(String node, String suffix, long generation, int slicesOfPool) {
        List<String> names = devices.get(node).stream()
                .map(name -> "{\"name\":\"" + name + "\"}")
                .toList();
        return Slice.of(
                json("""
                        {"metadata":{"name":"gpu-%s%s"},"spec":{"driver":"gpu.example.com","nodeName":"%s",
                         "pool":{"name":"%s","generation":%d,"resourceSliceCount":%d},"devices":[%s]}}""".formatted(node, suffix, node, node, generation, slicesOfPool, String.join(",", names))));
    }

    private List<Slice> slices() {
        List<Slice> slices = new ArrayList<>(more);
        devices.keySet().forEach(node -> slices.add(slice(node, "", 1, 1)));
        String half = """
                {"name":"half-%d","consumesCounters":[{"counterSet":"card","counters":{"memory":{"value":"40Gi"}}}]}""";
        slices.add(slice(
                "card",
                "card",
                ",\"sharedCounters\":[{\"name\":\"card\",\"counters\":{\"memory\":{\"value\":\"%s\"}}}]"
                        .formatted(counter),
                half.formatted(0) + "," + half.formatted(1)));
        slices.add(slice("net", "fabric", "", """
                        {"name":"link","allowMultipleAllocations":true,"capacity":{"bandwidth":{"value":"100Gi"}}}"""));
        return slices;
    }

    /** A slice for all nodes. */
    private static Slice slice(String driver, String pool, String more, String devices) {
        return Slice.of(json("""
                        {"metadata":{"name":"%s-%s"},"spec":{"driver":"%s.example.com","allNodes":true%s,
                         "pool":{"name":"%s","generation":1,"resourceSliceCount":1},"devices":[%s]}}""".formatted(driver, pool, driver, more, pool, devices)));
    }

    Snapshot snapshot() {
        return new Snapshot(
                "v1.36.2",
                KubernetesVersion.V1_36,
                new ClusterState(
                        List.of(),
                        slices(),
                        claims.values().stream().map(ClaimInfo::claim).toList(),
                        List.of()),
                nodes.stream()
                        .map(name -> new NodeInfo(new Node(name, Map.of()), true, Map.of()))
                        .toList(),
                claims,
                Map.of(),
                Map.of(),
                List.of(),
                unread);
    }
}
