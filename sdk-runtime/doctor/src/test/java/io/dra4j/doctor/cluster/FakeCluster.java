// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** An API server of trees in memory, which a test gives objects, refusals and a clock. */
public final class FakeCluster implements ClusterApi {

    public static final Instant NOW = Instant.parse("2026-11-26T03:00:00Z");

    private static final String LEASES = "apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

    private final Map<String, List<ObjectNode>> lists = new TreeMap<>();
    private final Set<String> denied = new HashSet<>();
    private final Set<String> unreadable = new HashSet<>();
    int largest; // of the lists that were read
    private String version;
    private boolean servesDra = true;
    private String refusal = "";

    public FakeCluster(String version) {
        this.version = version;
    }

    public FakeCluster version(String text, boolean withDra) {
        version = text;
        servesDra = withDra;
        return this;
    }

    /** Takes away a verb, such as {@code list resourceslices}. */
    public FakeCluster deny(String verbAndResource) {
        denied.add(verbAndResource);
        return this;
    }

    /** Answers a list with 403. */
    public FakeCluster hide(String path) {
        unreadable.add(path);
        return this;
    }

    /** Refuses slices, as an admission policy does. */
    public FakeCluster refuseSlices(String message) {
        refusal = message;
        return this;
    }

    public ObjectNode add(String path, String name) {
        ObjectNode object = object();
        object.putObject("metadata").put("name", name);
        lists.computeIfAbsent(path, any -> new ArrayList<>()).add(object);
        return object;
    }

    public ObjectNode node(String name, String kubelet, String runtime) {
        ObjectNode node = add("api/v1/nodes", name);
        node.withObject("/metadata").putObject("labels").put("kubernetes.io/hostname", name);
        ObjectNode status = node.putObject("status");
        status.putObject("nodeInfo")
                .put("kubeletVersion", kubelet)
                .put("containerRuntimeVersion", runtime)
                .put("bootID", "boot-of-" + name);
        status.putArray("conditions").addObject().put("type", "Ready").put("status", "True");
        status.putObject("allocatable").put("cpu", "8").put("memory", "64Gi");
        renew(name, NOW.minusSeconds(4));
        return node;
    }

    /** Sets the time at which a kubelet renewed its node's Lease. */
    public void lease(String node, Instant renewed) {
        remove(LEASES, node);
        renew(node, renewed);
    }

    private void renew(String node, Instant renewed) {
        add(LEASES, node)
                .putObject("spec")
                .put("renewTime", renewed.plusNanos(123_000).toString());
    }

    public ObjectNode slice(String driver, String node, String name, int of) {
        ObjectNode slice = add("apis/resource.k8s.io/v1/resourceslices", name);
        ObjectNode spec = slice.putObject("spec").put("driver", driver).put("nodeName", node);
        spec.putObject("pool").put("name", node).put("generation", 3).put("resourceSliceCount", of);
        spec.putArray("devices").addObject().put("name", "gpu-0");
        return slice;
    }

    /** Lets the devices of a slice be of a type, and share counters. */
    public static void partition(ObjectNode slice, String type) {
        for (JsonNode one : slice.at("/spec/devices")) {
            ObjectNode device = (ObjectNode) one;
            device.withObject("/attributes/type").put("string", type);
            device.putArray("consumesCounters").addObject().put("counterSet", "gpu-0");
        }
    }

    public void remove(String path, String name) {
        lists.getOrDefault(path, new ArrayList<>())
                .removeIf(object -> object.at("/metadata/name").asText().equals(name));
    }

    /** A DaemonSet with a pod on each of some nodes. */
    public void daemonSet(String namespace, String name, String command, String... nodes) {
        ObjectNode set = add("apis/apps/v1/daemonsets", name);
        set.withObject("/metadata").put("namespace", namespace);
        set.withObject("/spec/template/spec")
                .putArray("containers")
                .addObject()
                .put("image", "registry.example.com/driver:1")
                .putArray("command")
                .add(command);
        for (String node : nodes) {
            ObjectNode pod = add("api/v1/namespaces/" + namespace + "/pods", name + "-" + node);
            pod.withObject("/metadata").putArray("ownerReferences").addObject().put("name", name);
            pod.putObject("spec").put("nodeName", node);
        }
    }

    @Override
    public Answer get(String path) {
        String bare = path.split("\\?", 2)[0];
        if (unreadable.contains(bare)) {
            return status(403, "cannot list resource");
        }
        if (bare.equals("version")) {
            return new Answer(200, object().put("gitVersion", version), NOW);
        }
        if (bare.equals("apis/resource.k8s.io/v1")) {
            ObjectNode group = object();
            group.putArray("resources").addObject().put("name", "resourceslices");
            return servesDra ? new Answer(200, group, NOW) : status(404, "not found");
        }
        if (lists.containsKey(bare)) {
            ObjectNode list = object();
            lists.get(bare).stream().filter(one -> isSelected(one, path)).forEach(list.putArray("items")::add);
            largest = Math.max(largest, list.path("items").size());
            return new Answer(200, list, NOW);
        }
        int slash = bare.lastIndexOf('/');
        return lists.getOrDefault(bare.substring(0, Math.max(0, slash)), List.of()).stream()
                .filter(one -> one.at("/metadata/name").asText().equals(bare.substring(slash + 1)))
                .findFirst()
                .map(one -> new Answer(200, one, NOW))
                .orElseGet(() -> status(404, "not found"));
    }

    private static boolean isSelected(JsonNode object, String path) {
        return Pattern.compile("spec\\.(\\w+)%3D([\\w.-]+)")
                .matcher(path)
                .results()
                .allMatch(one -> object.path("spec").path(one.group(1)).asText().equals(one.group(2)));
    }

    @Override
    public Answer create(String path, JsonNode body) {
        if (path.endsWith("selfsubjectreviews")) {
            ObjectNode review = object();
            review.withObject("/status/userInfo").put("username", "system:serviceaccount:dra-nvidia:gpus");
            return new Answer(201, review, NOW);
        }
        if (path.endsWith("subjectaccessreviews")) {
            JsonNode wanted = body.at("/spec/resourceAttributes");
            String verb =
                    wanted.path("verb").asText() + " " + wanted.path("resource").asText();
            ObjectNode review = object();
            review.putObject("status").put("allowed", !denied.contains(verb));
            return new Answer(201, review, NOW);
        }
        return refusal.isEmpty() ? new Answer(201, body, NOW) : status(403, refusal);
    }

    private static Answer status(int code, String message) {
        return new Answer(code, object().put("kind", "Status").put("message", message), NOW);
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
