// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.ClusterState;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads everything that decides about devices, in any served version of the API. */
public final class ClusterReader {

    private static final String GROUP = "apis/resource.k8s.io";

    private final ApiReader api;
    private @Nullable JsonNode group; // as the server serves it, once read

    public ClusterReader(ApiReader api) {
        this.api = api;
    }

    /**
     * Reads the cluster.
     *
     * <p>Each list is read at its own time, and decoded while the next ones are read. What refers to other
     * objects is read before them: claims, then the slices of their devices, then the nodes of these. An object that
     * is referred to exists first, and is deleted last: a node joins, its slices are published, a claim gets a device
     * of them, a pod is placed with it. So an object that comes while this reads never seems to refer to one that does
     * not exist.
     *
     * @throws ReadException if it can't be read, or serves no claims
     */
    public Snapshot read() {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            return read(group(), threads);
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        } finally {
            threads.shutdownNow();
        }
    }

    private Snapshot read(JsonNode group, Executor threads) {
        String prefix = "apis/" + version(group) + "/";
        Contents all = new Contents();
        CompletableFuture<String> version = CompletableFuture.supplyAsync(this::server, threads);
        CompletableFuture<List<TaintRule>> rules = CompletableFuture.supplyAsync(() -> taintRules(group), threads);
        Listing claims = start(prefix + "resourceclaims", all::addClaim, threads);
        claims.arrived().join();
        Listing classes = start(prefix + "deviceclasses", all::addClass, threads);
        Listing slices = start(prefix + "resourceslices", all::addSlice, threads);
        slices.arrived().join();
        Listing nodes = start("api/v1/nodes", one -> all.nodes.add(NodeInfo.of(one)), threads);
        Stream.of(claims, classes, slices, nodes).map(Listing::decoded).forEach(CompletableFuture::join);
        return all.snapshot(version.join(), rules.join());
    }

    /**
     * A list that is read by a thread of the pool.
     *
     * @param arrived completes with its last page, before that page's objects are decoded
     */
    private record Listing(CompletableFuture<Void> arrived, CompletableFuture<Void> decoded) {}

    private Listing start(String path, Consumer<JsonNode> each, Executor threads) {
        CompletableFuture<Void> arrived = new CompletableFuture<>();
        CompletableFuture<Void> decoded =
                CompletableFuture.runAsync(() -> api.list(path, each, () -> arrived.complete(null)), threads);
        return new Listing(CompletableFuture.allOf(CompletableFuture.anyOf(arrived, decoded)), decoded);
    }

    private String server() {
        return api.find("version").map(one -> one.path("gitVersion").asText()).orElse("");
    }

    /** The objects of a cluster; those of a list are added by one thread. */
    private static final class Contents {
        private final Map<String, ClaimInfo> claims = new HashMap<>();
        private final List<DeviceClass> classes = new ArrayList<>();
        private final List<ClassResource> resources = new ArrayList<>();
        private final List<Slice> slices = new ArrayList<>();
        private final Map<String, String> written = new HashMap<>();
        private final Map<String, String> taintedSince = new HashMap<>();
        private final List<NodeInfo> nodes = new ArrayList<>();
        private final List<String> unreadClaims = new ArrayList<>();
        private final List<String> unreadSlices = new ArrayList<>();

        private void addClaim(JsonNode json) {
            decoded(unreadClaims, () -> {
                ClaimInfo claim = ClaimInfo.of(json);
                claims.put(claim.claim().fullName(), claim);
            });
        }

        private void addSlice(JsonNode json) {
            decoded(unreadSlices, () -> {
                Slice slice = Slice.of(json);
                slices.add(slice);
                written.put(slice.name(), written(json));
                addTaints(json, slice.pool(), taintedSince);
            });
        }

        private void addClass(JsonNode json) {
            DeviceClass read = DeviceClass.of(json);
            classes.add(read);
            String resource = json.at("/spec/extendedResourceName").asText();
            if (!resource.isEmpty()) {
                String created = json.at("/metadata/creationTimestamp").asText();
                resources.add(new ClassResource(read.name(), resource, created));
            }
        }

        /** An object that this program does not understand is left out and reported. */
        private static void decoded(List<String> unread, Runnable decoding) {
            try {
                decoding.run();
            } catch (InvalidObjectException e) {
                unread.add("left out, since it can't be read: " + e.getMessage());
            }
        }

        private Snapshot snapshot(String server, List<TaintRule> rules) {
            KubernetesVersion release = Release.of(server).map(Release::nearest).orElse(KubernetesVersion.newest());
            if (!SchedulerBug.of(release, server).contains(SchedulerBug.TAINT_RULE_WITHOUT_SELECTOR)) {
                rules.removeIf(rule -> !rule.hasSelector());
            }
            nodes.sort(Comparator.comparing(NodeInfo::name));
            ClusterState cluster = new ClusterState(
                    classes,
                    slices,
                    claims.values().stream().map(ClaimInfo::claim).toList(),
                    rules);
            return new Snapshot(
                    server,
                    release,
                    cluster,
                    nodes,
                    claims,
                    written,
                    taintedSince,
                    resources,
                    Stream.concat(unreadClaims.stream(), unreadSlices.stream()).toList());
        }
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
        if (group == null) {
            group = api.find(GROUP)
                    .orElseThrow(() -> new ReadException("The server does not serve resource.k8s.io: DRA needs"
                            + " Kubernetes 1.34, or a feature gate on older releases"));
        }
        return group;
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

    /** Rules have their own versions, or are not served; without a selector, only schedulers with a bug apply them. */
    private List<TaintRule> taintRules(JsonNode group) {
        List<TaintRule> rules = new ArrayList<>();
        for (JsonNode version : group.path("versions")) {
            String prefix = "apis/" + version.path("groupVersion").asText();
            boolean isServed = api.find(prefix).stream()
                    .flatMap(one -> one.path("resources").valueStream())
                    .anyMatch(one -> one.path("name").asText().equals("devicetaintrules"));
            if (isServed) {
                api.list(prefix + "/devicetaintrules", one -> rules.add(TaintRule.of(one)));
                break;
            }
        }
        return rules;
    }
}
