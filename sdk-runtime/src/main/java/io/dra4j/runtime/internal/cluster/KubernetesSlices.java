// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.Release;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The slices in the cluster: requests and watches through {@link ApiCalls}. */
final class KubernetesSlices implements SliceStore {

    static final Duration LIMIT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesSlices.class);
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = ClusterException.NOT_FOUND;
    static final String MISSING = "The API server %s does not serve resource.k8s.io/v1; Kubernetes 1.34 or"
            + " newer is needed, with that API group enabled";
    private static final String NO_NODE = "There is no Node %s in the cluster, which must own the ResourceSlices; give"
            + " the name of the Node object that the driver runs on";
    private static final String PATH = "apis/resource.k8s.io/v1/resourceslices";

    private final ApiCalls calls;
    private final SliceCodec codec;
    private final Duration limit;
    private final BooleanSupplier mayWrite;

    private final AtomicBoolean isUnversioned = new AtomicBoolean();
    private volatile @Nullable String nodeUid;

    /** Creates the store of a node's slices, which the publisher's lock guards. */
    KubernetesSlices(ApiCalls calls, String driver, String node) {
        this(calls, driver, node, LIMIT, () -> true);
    }

    /**
     * Creates the store of the slices of a node, or of the driver's controller.
     *
     * @param node empty for the controller
     * @param limit for each request
     * @param mayWrite asked before each write is sent
     */
    KubernetesSlices(ApiCalls calls, String driver, String node, Duration limit, BooleanSupplier mayWrite) {
        this.calls = calls;
        this.codec = new SliceCodec(driver, node);
        this.limit = limit;
        this.mayWrite = mayWrite;
    }

    @Override
    public List<Scope> scopes() {
        return isOfController() ? List.of(Scope.CLUSTER) : SliceStore.super.scopes();
    }

    private boolean isOfController() {
        return codec.node().isEmpty();
    }

    @Override
    public String driver() {
        return codec.driver();
    }

    @Override
    public List<FieldError> refusals(Content content, FeatureGates gates) {
        return codec.refusals(content, gates);
    }

    /** Reads the node's UID before its slices: a node that was created again under its name owns nothing old. */
    @Override
    public Snapshot list(Scope scope) {
        String owner = scope == Scope.NODE ? readNodeUid() : nodeUid();
        List<Stored> found = new ArrayList<>();
        Consumer<JsonNode> item = slice -> {
            if (scope == Scope.NODE || codec.isOurs(slice, owner)) {
                codec.decode(slice, owner).ifPresent(found::add);
            }
        };
        try {
            JsonNode list = calls.list(slices(scope), item, limit);
            return new Snapshot(found, list.path("resourceVersion").asText());
        } catch (ClusterException e) {
            throw e.status() == NOT_FOUND ? new ClusterException.ApiMissing(MISSING.formatted(calls.server())) : e;
        }
    }

    @Override
    public Watch watch(Scope scope, String resourceVersion, Watch.Listener<Stored> listener) {
        String owner = nodeUid();
        return calls.watch(
                slices(scope)
                        + "&watch=true&allowWatchBookmarks=true&resourceVersion="
                        + URLEncoder.encode(resourceVersion, StandardCharsets.UTF_8),
                slice -> codec.decode(slice, owner),
                listener,
                limit);
    }

    @Override
    public Stored create(int index, Content content) {
        String owner = nodeUid();
        ObjectNode body = isOfController() ? codec.encodeNamed(index, content) : codec.encodeNew(index, content, owner);
        return written(write("POST", PATH, body), owner);
    }

    @Override
    public Content tryCreate(Content content) {
        String owner = nodeUid();
        ObjectNode body = codec.encodeNew(0, content, owner);
        return written(calls.send("POST", PATH + "?dryRun=All", body, limit), owner)
                .content();
    }

    @Override
    public Stored update(Stored slice, Content content) {
        String owner = nodeUid();
        ObjectNode body = codec.encodeUpdate(slice, content, owner);
        return written(write("PUT", PATH + "/" + slice.name(), body), owner);
    }

    @Override
    public void delete(Stored slice) {
        ObjectNode options = Json.object().put("apiVersion", "v1").put("kind", "DeleteOptions");
        options.putObject("preconditions").put("uid", slice.uid()).put("resourceVersion", slice.resourceVersion());
        try {
            write("DELETE", PATH + "/" + slice.name(), options);
        } catch (ClusterException.NotFound e) {
            // Another client deleted it.
        }
    }

    @Override
    public Optional<Release> kubernetes() {
        try {
            return calls.release(limit);
        } catch (ClusterException e) {
            if (e.status() != FORBIDDEN && e.status() != NOT_FOUND) {
                throw e;
            }
            if (!isUnversioned.getAndSet(true)) {
                LOG.atInfo().log(
                        "The API server reports no version; it is treated as a recent one: {}", e.getMessage());
            }
            return Optional.empty();
        }
    }

    private String write(String method, String path, JsonNode body) {
        if (!mayWrite.getAsBoolean()) {
            throw new CancellationException("another process of the driver may lead by now");
        }
        return calls.send(method, path, body, limit);
    }

    private Stored written(String response, String owner) {
        return ApiCalls.understood(
                "not a ResourceSlice",
                response,
                json -> codec.decode(Json.parse(json), owner)
                        .orElseThrow(() -> new IllegalArgumentException("it has no pool")));
    }

    private String slices(Scope scope) {
        String selector = "spec.driver=" + driver() + ",spec.nodeName=" + (scope == Scope.NODE ? codec.node() : "");
        return PATH + "?fieldSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8);
    }

    private String nodeUid() {
        String known = isOfController() ? "" : nodeUid;
        return known == null ? readNodeUid() : known;
    }

    private String readNodeUid() {
        String uid = ApiCalls.understood("not a Node", readNode(), Json::parseObject)
                .at("/metadata/uid")
                .asText();
        nodeUid = uid;
        return uid;
    }

    private String readNode() {
        try {
            return calls.read("api/v1/nodes/" + codec.node(), limit);
        } catch (ClusterException.NotFound e) {
            throw new ClusterException(NO_NODE.formatted(codec.node()), NOT_FOUND, null);
        }
    }
}
