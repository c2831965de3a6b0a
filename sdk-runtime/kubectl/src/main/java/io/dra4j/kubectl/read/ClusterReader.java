// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Cluster;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.InvalidObjectException;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.kubectl.read.Snapshot.ClassResource;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Reads all that decides about devices, whatever version of the API is served. */
public final class ClusterReader {

    private static final String GROUP = "apis/resource.k8s.io";

    private final ApiReader api;
    private final List<String> unread = new ArrayList<>();

    public ClusterReader(ApiReader api) {
        this.api = api;
    }

    /**
     * Reads the cluster.
     *
     * <p>Each list is read at a moment of its own. What refers to other objects is read before them: claims, then the
     * slices of their devices, then the nodes of these. An object that is referred to exists first, and is deleted
     * last: a node joins, its slices are published, a claim gets a device of them, a pod is placed with it. So an
     * object that comes while this reads never seems to refer to one that does not exist.
     *
     * @throws ReadException if it can't be read, or serves no claims
     */
    public Snapshot read() {
        JsonNode group = group();
        String prefix = "apis/" + version(group) + "/";
        String server =
                api.find("version").map(one -> one.path("gitVersion").asText()).orElse("");
        Map<String, ClaimInfo> claims = new HashMap<>();
        api.list(prefix + "resourceclaims", one -> decoded(() -> add(ClaimInfo.of(one), claims)));
        List<DeviceClass> classes = new ArrayList<>();
        List<ClassResource> resources = new ArrayList<>();
        api.list(prefix + "deviceclasses", one -> addClass(one, classes, resources));
        Map<String, String> written = new HashMap<>();
        Map<String, String> taintedSince = new HashMap<>();
        List<Slice> slices = slices(prefix, written, taintedSince);
        List<NodeInfo> nodes = new ArrayList<>();
        api.list("api/v1/nodes", one -> nodes.add(NodeInfo.of(one)));
        nodes.sort(Comparator.comparing(NodeInfo::name));
        Cluster cluster = new Cluster(
                classes, slices, claims.values().stream().map(ClaimInfo::claim).toList(), taintRules(group, server));
        return new Snapshot(
                server, release(server), cluster, nodes, claims, written, taintedSince, resources, List.copyOf(unread));
    }

    private List<Slice> slices(String prefix, Map<String, String> written, Map<String, String> taintedSince) {
        List<Slice> slices = new ArrayList<>();
        Consumer<JsonNode> add = one -> {
            Slice slice = Slice.of(one);
            slices.add(slice);
            written.put(slice.name(), written(one));
            addTaints(one, slice.pool(), taintedSince);
        };
        api.list(prefix + "resourceslices", one -> decoded(() -> add.accept(one)));
        return slices;
    }

    /**
     * Reads all pods.
     *
     * @throws ReadException if they can't be read
     */
    public List<PodInfo> pods() {
        List<PodInfo> pods = new ArrayList<>();
        api.list("api/v1/pods", one -> pods.add(PodInfo.of(one)));
        return pods;
    }

    /**
     * The version of the API that the server prefers, such as {@code resource.k8s.io/v1}.
     *
     * @throws ReadException if it serves none
     */
    public String version() {
        return version(group());
    }

    private static String version(JsonNode group) {
        return group.at("/preferredVersion/groupVersion").asText();
    }

    private JsonNode group() {
        return api.find(GROUP)
                .orElseThrow(() -> new ReadException("The server does not serve resource.k8s.io: DRA needs"
                        + " Kubernetes 1.34, or a feature gate before"));
    }

    private static void addTaints(JsonNode json, PoolId pool, Map<String, String> since) {
        for (JsonNode device : json.at("/spec/devices")) {
            DeviceId id =
                    new DeviceId(pool.driver(), pool.pool(), device.path("name").asText());
            for (JsonNode taint : device.path("taints")) {
                String added = taint.path("timeAdded").asText();
                since.put(id + " " + taint.path("key").asText(), added);
            }
        }
    }

    /** Returns when an object was written last, as far as the server says. */
    private static String written(JsonNode json) {
        String created = json.at("/metadata/creationTimestamp").asText();
        return json.at("/metadata/managedFields")
                .valueStream()
                .map(one -> one.path("time").asText())
                .reduce(created, (one, other) -> one.compareTo(other) < 0 ? other : one);
    }

    private static void add(ClaimInfo claim, Map<String, ClaimInfo> claims) {
        claims.put(claim.claim().fullName(), claim);
    }

    private void addClass(JsonNode json, List<DeviceClass> classes, List<ClassResource> resources) {
        DeviceClass read = DeviceClass.of(json);
        classes.add(read);
        String resource = json.at("/spec/extendedResourceName").asText();
        if (!resource.isEmpty()) {
            String created = json.at("/metadata/creationTimestamp").asText();
            resources.add(new ClassResource(read.name(), resource, created));
        }
    }

    /** An object that this program does not understand is left out, and said to be. */
    private void decoded(Runnable decoding) {
        try {
            decoding.run();
        } catch (InvalidObjectException e) {
            unread.add("left out, since it can't be read: " + e.getMessage());
        }
    }

    /** Rules have their own versions, or are not served; without a selector, they count where the scheduler has a bug. */
    private List<TaintRule> taintRules(JsonNode group, String server) {
        boolean every = SchedulerBug.of(release(server), server).contains(SchedulerBug.TAINT_RULE_WITHOUT_SELECTOR);
        for (JsonNode version : group.path("versions")) {
            String prefix = "apis/" + version.path("groupVersion").asText();
            boolean isServed = api.find(prefix).stream()
                    .flatMap(one -> one.path("resources").valueStream())
                    .anyMatch(one -> one.path("name").asText().equals("devicetaintrules"));
            if (isServed) {
                List<TaintRule> rules = new ArrayList<>();
                Consumer<JsonNode> add = one -> rules.add(TaintRule.of(one));
                api.list(prefix + "/devicetaintrules", add);
                rules.removeIf(rule -> !every && !rule.hasSelector());
                return rules;
            }
        }
        return List.of();
    }

    private static KubernetesVersion release(String server) {
        return Release.of(server).map(Release::nearest).orElse(KubernetesVersion.newest());
    }
}
