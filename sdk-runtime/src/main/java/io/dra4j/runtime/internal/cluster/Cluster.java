// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API server, as a driver on a node needs it.
 *
 * <p>All methods may be called concurrently from any thread. Only the node's UID is cached, and requests are not
 * rate-limited: each responds to an event. At most eight wait for their answers at a time, each on its own connection.
 */
public final class Cluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
    private static final String DRA_API = "apis/resource.k8s.io/v1";

    private final ApiClient client;
    private final ApiCalls calls;
    private final SliceStore slices;
    private final NodeEvents events;
    private final KubernetesClaims claims;

    /** Without a KubernetesClient, which would bring all models of Kubernetes; ours are trees. */
    Cluster(ApiClient client, String driver, String node, Meters meters) {
        this.client = client;
        this.calls = new ApiCalls(client, meters);
        this.slices = new KubernetesSlices(calls, driver, node);
        this.events = new NodeEvents(calls, driver, node, InstantSource.system());
        this.claims = new KubernetesClaims(calls);
    }

    /**
     * Creates a client; no request is sent yet.
     *
     * @param kubeconfig the kubeconfig file; {@code null} for the service account of the pod
     * @throws DraException if the file or the service account can't be read
     */
    public static Cluster connect(@Nullable Path kubeconfig, String driver, String node, Meters meters) {
        ApiClient client = new ApiClient(kubeconfig, () -> ClientConfig.of(kubeconfig, driver));
        return new Cluster(client, driver, node, meters);
    }

    /** Starts loading what a TLS connection needs, while a program reads its command line; sends nothing. */
    public static void load(Executor beside) {
        ApiConnections.load(beside);
    }

    public SliceStore slices() {
        return slices;
    }

    /**
     * Returns the slices that the driver's controller publishes, which belong to no node and have no owner.
     *
     * @param limit for each request
     * @param mayWrite asked before each write is sent; a refused write ends with a CancellationException
     */
    public SliceStore slicesOfController(String driver, Duration limit, BooleanSupplier mayWrite) {
        return new KubernetesSlices(calls, driver, "", limit, mayWrite);
    }

    /**
     * Returns a Lease.
     *
     * @param namespace its namespace; empty for that of the kubeconfig or the pod
     * @param limit for each request
     */
    public LeaseStore lease(String namespace, String name, Duration limit) {
        String where = namespace.isEmpty() ? client.namespace() : namespace;
        return new KubernetesLease(calls, where, name, limit, new AtomicReference<>(Json.object()));
    }

    public ClaimReader claimReader() {
        return claims;
    }

    public ClusterApi checked() {
        return new CheckedApi(calls);
    }

    public ClaimFeed claimFeed() {
        return claims;
    }

    /**
     * Lists the claims of all namespaces that are not allocated; they may be a few seconds old.
     *
     * @param claim takes each claim as it comes, so that a long list needs no memory
     * @throws ClusterException if they can't be read in time
     */
    public void pendingClaims(Consumer<PendingClaim> claim, Duration limit) {
        claims.pending(claim, limit);
    }

    public ClaimStatuses claimStatuses() {
        return claims;
    }

    /**
     * Creates a Kubernetes Event on the driver's Node; blocks for a few seconds at most.
     *
     * @param warning whether its type is Warning; otherwise it is Normal
     * @param reason what kind of thing, in UpperCamelCase
     * @param message a sentence for people; cut at 1024 characters
     * @throws ClusterException if it can't be created
     */
    public void createEvent(boolean warning, String reason, String message) {
        events.create(warning, reason, message);
    }

    /**
     * Checks that the server has the API that this SDK speaks; does nothing if it can't be reached, because a driver
     * must start, and unprepare, without an API server.
     *
     * @param limit how long to wait for a response
     * @throws DraException if the server is reached, tells its version, and does not serve resource.k8s.io/v1
     */
    public void requireDraApi(Duration limit) {
        try {
            calls.read(DRA_API, limit);
        } catch (ClusterException e) {
            String version = e.status() == ClusterException.NOT_FOUND ? version(limit) : "";
            if (!version.isEmpty()) { // a proxy without an API server also answers 404
                throw new DraException(KubernetesSlices.MISSING.formatted(calls.server() + version), e);
            }
            LOG.atWarn().setCause(e).log("Could not check the API server's DRA API; continuing without this check");
        }
    }

    private String version(Duration limit) {
        try {
            String version = ServerVersion.of(calls.read("version", limit));
            return version.isEmpty() ? "" : " (" + version + ")";
        } catch (ClusterException e) {
            return "";
        }
    }

    /** Returns the release of dra4j, as requests name it. */
    public static String release() {
        return ClientConfig.version();
    }

    @Override
    public void close() {
        client.close();
    }

    private record CheckedApi(ApiCalls calls) implements ClusterApi {
        private static final Duration LIMIT = Duration.ofSeconds(10);

        @Override
        public Answer get(String path) {
            return answer("GET", path, null);
        }

        @Override
        public Answer create(String path, JsonNode body) {
            return answer("POST", path, body);
        }

        private Answer answer(String method, String path, @Nullable JsonNode body) {
            try {
                return calls.answer(method, path, body, LIMIT);
            } catch (ClusterException e) {
                throw new NotCheckedException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    /**
     * Kubernetes Events on the driver's Node, which {@code kubectl describe node} shows.
     *
     * <p>Core v1 Events, like the kubelet's own. Blocks for a few seconds at most; thread-safe.
     */
    private record NodeEvents(ApiCalls calls, String driver, String node, InstantSource clock) {
        private static final Duration LIMIT = Duration.ofSeconds(10);
        // Events of objects without a namespace live here.
        private static final String PATH = "api/v1/namespaces/default/events";
        private static final int LONGEST_MESSAGE = 1024;
        private static final String CUT = " …";

        void create(boolean warning, String reason, String message) {
            calls.send("POST", PATH, event(warning, reason, message), LIMIT);
        }

        private ObjectNode event(boolean warning, String reason, String message) {
            String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
            ObjectNode event = Json.object()
                    .put("apiVersion", "v1")
                    .put("kind", "Event")
                    .put("type", warning ? "Warning" : "Normal")
                    .put("reason", reason)
                    .put("message", cut(message))
                    .put("firstTimestamp", now)
                    .put("lastTimestamp", now)
                    .put("count", 1)
                    .put("reportingComponent", driver)
                    .put("reportingInstance", node);
            event.putObject("metadata").put("generateName", node + ".").put("namespace", "default");
            event.putObject("source").put("component", driver).put("host", node);
            // The kubelet gives the node's name for its UID, and tools look for both.
            event.putObject("involvedObject")
                    .put("apiVersion", "v1")
                    .put("kind", "Node")
                    .put("name", node)
                    .put("uid", node);
            return event;
        }

        private static String cut(String message) {
            return message.length() <= LONGEST_MESSAGE
                    ? message
                    : message.substring(0, LONGEST_MESSAGE - CUT.length()) + CUT;
        }
    }

    /**
     * A Lease in the cluster: data that others wrote, such as labels, is kept.
     *
     * @param limit for each request
     * @param last the object as it was read or written last; empty before
     */
    private record KubernetesLease(
            ApiCalls calls, String namespace, String name, Duration limit, AtomicReference<ObjectNode> last)
            implements LeaseStore {

        /** The API requires six fractional digits of a second. */
        private static final DateTimeFormatter MICROS =
                DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

        @Override
        public Optional<Lease> read() {
            try {
                return Optional.of(decode(calls.read(path() + "/" + name, limit)));
            } catch (ClusterException.NotFound e) {
                last.set(Json.object());
                return Optional.empty();
            }
        }

        @Override
        public Lease write(Lease lease) {
            return lease.resourceVersion().isEmpty()
                    ? decode(calls.send("POST", path(), encode(lease), limit))
                    : decode(calls.send("PUT", path() + "/" + name, encode(lease), limit));
        }

        private String path() {
            return "apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases";
        }

        private ObjectNode encode(Lease lease) {
            ObjectNode object = last.get()
                    .deepCopy()
                    .put("apiVersion", "coordination.k8s.io/v1")
                    .put("kind", "Lease");
            ObjectNode metadata =
                    object.withObject("/metadata").put("name", name).put("namespace", namespace);
            if (!lease.resourceVersion().isEmpty()) {
                metadata.put("resourceVersion", lease.resourceVersion());
            }
            object.withObject("/spec")
                    .put("holderIdentity", lease.holder())
                    .put("leaseDurationSeconds", lease.duration().toSeconds())
                    .put("acquireTime", MICROS.format(lease.acquired()))
                    .put("renewTime", MICROS.format(lease.renewed()))
                    .put("leaseTransitions", lease.transitions());
            return object;
        }

        private Lease decode(String response) {
            ObjectNode object = ApiCalls.understood("not a Lease", response, Json::parseObject);
            last.set(object);
            JsonNode spec = object.path("spec");
            return new Lease(
                    spec.path("holderIdentity").asText(""),
                    Duration.ofSeconds(spec.path("leaseDurationSeconds").asInt()),
                    time(spec.path("acquireTime")),
                    time(spec.path("renewTime")),
                    spec.path("leaseTransitions").asInt(),
                    object.at("/metadata/resourceVersion").asText());
        }

        private static Instant time(JsonNode text) {
            try {
                return Instant.parse(text.asText());
            } catch (DateTimeParseException e) {
                return Instant.EPOCH; // of another client, or none
            }
        }
    }
}
