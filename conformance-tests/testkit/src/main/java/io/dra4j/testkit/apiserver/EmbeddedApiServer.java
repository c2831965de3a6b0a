// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.http.ApiListener;
import io.dra4j.testkit.apiserver.http.InMemoryApi;
import io.dra4j.testkit.apiserver.http.Serving;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import io.dra4j.testkit.apiserver.validation.Strategies;
import io.dra4j.testkit.apiserver.validation.Strategy;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.http.ServiceAccountFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An API server for the DRA types, for tests and demos, in this JVM and on 127.0.0.1.
 *
 * <p>It speaks the API's HTTP (JSON) to any client: fabric8, client-go, kubectl; as plain HTTP/1.1,
 * and with {@link Builder#tls} on a second port as kube-apiserver does, HTTP/2 included. It keeps
 * everything in memory, has no controllers and no scheduler ({@code testkit.controllers} does), and
 * allows every request. Thread-safe; {@link #close} ends all watches and threads within a second.
 */
public final class EmbeddedApiServer implements AutoCloseable {
    private static final List<String> NAMESPACES = List.of("default", "kube-node-lease", "kube-public", "kube-system");

    private final KubernetesVersion version;
    private final ApiListener listener;
    private final ClusterObjects objects;
    private final FeatureGates gates;

    private EmbeddedApiServer(Builder builder) {
        version = builder.version;
        gates = new FeatureGates(builder.version, builder.gates);
        objects = builder.objects(gates);
        listener = new ApiListener(
                objects.kinds(), objects.registry(), objects.store(), builder.clock, builder.serving(gates));
    }

    private static ObjectNode newNode(String name, KubernetesVersion version) {
        ObjectNode node = JsonTrees.object().put("apiVersion", "v1").put("kind", "Node");
        JsonTrees.metadata(node).put("name", name).putObject("labels").put("kubernetes.io/hostname", name);
        ObjectNode status = node.putObject("status");
        status.putObject("nodeInfo").put("kubeletVersion", version.gitVersion());
        status.putArray("conditions")
                .addObject()
                .put("type", "Ready")
                .put("status", "True")
                .put("reason", "KubeletReady");
        return node;
    }

    /** A server of the newest stable release that is supported (1.36), on a free port, without nodes. */
    public static Builder builder() {
        return new Builder();
    }

    /** The release that it behaves as. */
    public KubernetesVersion version() {
        return version;
    }

    /** The gates of the release, with those that were set. */
    public FeatureGates featureGates() {
        return gates;
    }

    /** The URL, for example {@code http://127.0.0.1:41234}. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + listener.port());
    }

    /** The objects, for the program that runs the server. */
    public ClusterObjects store() {
        return objects;
    }

    /** The number of open watches; one whose client went away counts until its next event. */
    public int openWatches() {
        return listener.openWatches();
    }

    /**
     * The number of requests so far by verb and resource, as {@code create resourceslices},
     * sorted; those of other paths, discovery for example, are {@code get (no resource)}.
     */
    public Map<String, Long> requests() {
        Map<String, Long> requests = new TreeMap<>();
        traffic().forEach((kind, all) -> requests.put(kind, (long) all.requests()));
        return requests;
    }

    /** The traffic so far, by the kinds of {@link #requests}. */
    public Map<String, Traffic> traffic() {
        return listener.traffic();
    }

    /** The number of open TLS connections. */
    public int connections() {
        return listener.secureConnections();
    }

    /** Ends all open watches, as kube-apiserver does with each after half an hour to an hour. */
    public void endWatches() {
        listener.endWatches();
    }

    /** The number of requests so far by protocol: {@code HTTP/1.1}, {@code HTTP/2.0}. */
    public Map<String, Long> protocols() {
        return listener.protocols();
    }

    /** Writes a kubeconfig, readable only by this user, and returns the file. */
    public Path writeKubeconfig(Path file) throws IOException {
        return Connections.writeKubeconfig(file, url());
    }

    /**
     * The URL of the port that speaks TLS, for example {@code https://127.0.0.1:41235}.
     *
     * @throws IllegalStateException without {@link Builder#tls}, like all methods about TLS
     */
    public URI tlsUrl() {
        return URI.create("https://127.0.0.1:" + listener.securePort());
    }

    /** The certificate, in PEM, of the CA that signed the serving certificate of new connections. */
    public String authority() {
        return listener.tls().authority();
    }

    /**
     * Serves new connections with a certificate of another CA; open connections continue. Clients get the CA from
     * {@link #authority}, and from files that are written from now on.
     */
    public void replaceAuthority() {
        listener.tls().replaceAuthority();
    }

    /** Ends all TLS connections, interrupting requests and watches; new ones are accepted. */
    public void closeConnections() {
        listener.closeSecureConnections();
    }

    /**
     * Writes {@code ca.crt}, {@code token} and {@code namespace} into a folder, as the kubelet does for a pod, and
     * returns the folder. Files from an earlier call are replaced atomically.
     */
    public Path writeServiceAccount(Path folder) throws IOException {
        ServiceAccountFiles.write(folder, "default", authority());
        return folder;
    }

    /**
     * Writes a kubeconfig that trusts the CA, readable only by this user, and returns the file.
     *
     * @param server {@link #tlsUrl}, or the URL of a proxy in front of it
     */
    public Path writeKubeconfig(Path file, URI server) throws IOException {
        return Connections.writeKubeconfig(file, server, authority());
    }

    @Override
    public void close() {
        listener.close();
    }

    public static final class Builder {
        private KubernetesVersion version = KubernetesVersion.V1_36;
        private final Map<FeatureGate, Boolean> gates = new EnumMap<>(FeatureGate.class);
        private final List<String> nodes = new ArrayList<>();
        private boolean preReleases;
        private int port;
        private InstantSource clock = InstantSource.system();
        private RandomGenerator random = new SecureRandom();
        private @Nullable ClusterObjects before;
        private int historySize = 10_000;
        private Duration bookmarkInterval = Duration.ofSeconds(60);
        private boolean tls;
        private double goawayChance;
        private Duration requestTimeout = Duration.ofSeconds(60);

        private Builder() {}

        /** The release to behave as: its gates, fields and rules. */
        public Builder version(KubernetesVersion release) {
            version = release;
            return this;
        }

        /** Sets the release and the gates to those of a server. */
        public Builder like(FeatureGates server) {
            version = server.version();
            gates.putAll(server.changed());
            return this;
        }

        /** Sets a gate over the release's default. */
        public Builder featureGate(FeatureGate gate, boolean enabled) {
            gates.put(gate, enabled);
            return this;
        }

        /**
         * Also serves alpha and beta versions, which a cluster does only if configured.
         *
         * <p>Some kinds, such as the DeviceTaintRules of 1.36, have no other.
         */
        public Builder preReleaseVersions() {
            preReleases = true;
            return this;
        }

        /** A Ready node to create. */
        public Builder node(String name) {
            nodes.add(name);
            return this;
        }

        /** The port; 0, the default, for a free one. */
        public Builder port(int number) {
            port = number;
            return this;
        }

        public Builder clock(InstantSource source) {
            clock = source;
            return this;
        }

        /**
         * Draws uids, generated names and the lifetime of watches; by default they differ for each server.
         *
         * @param source has to be thread-safe, unless all requests come from one thread
         */
        public Builder random(RandomGenerator source) {
            random = source;
            return this;
        }

        /**
         * Begins with the objects and the revision of a server that has ended, as after a restart: its history is gone,
         * and so are objects of kinds that this server does not serve.
         */
        public Builder after(ClusterObjects ended) {
            before = ended;
            return this;
        }

        /** The number of changes in the history; watches from earlier revisions get 410 Gone. */
        public Builder historySize(int changes) {
            historySize = changes;
            return this;
        }

        /** The interval of bookmarks in watches that request them. */
        public Builder bookmarkInterval(Duration interval) {
            bookmarkInterval = interval;
            return this;
        }

        /** Also serves TLS, on a free port: HTTP/2 and HTTP/1.1, as the client chooses (ALPN). */
        public Builder tls() {
            tls = true;
            return this;
        }

        /**
         * The chance, from 0 (the default) to 1, that an HTTP/2 request is the last one on its connection:
         * kube-apiserver's {@code --goaway-chance}. Earlier requests are still answered.
         */
        public Builder goawayChance(double chance) {
            goawayChance = chance;
            return this;
        }

        /**
         * The time in which the body of a request has to arrive; after that, the answer is 504 Timeout. By default a
         * minute, as kube-apiserver's {@code --request-timeout}. A watch continues for its {@code timeoutSeconds}, or
         * half an hour to an hour.
         */
        public Builder requestTimeout(Duration limit) {
            requestTimeout = limit;
            return this;
        }

        private Serving serving(FeatureGates states) {
            return new Serving(port, tls, goawayChance, requestTimeout, bookmarkInterval, states, random);
        }

        private ClusterObjects objects(FeatureGates states) {
            ResourceKinds kinds = new ResourceKinds(version, preReleases);
            ObjectStore store = new ObjectStore(historySize);
            if (before != null) {
                store.restore(before.store(), kinds);
            }
            MetadataRules metadata = new MetadataRules(clock, random);
            Map<String, Strategy> strategies = Strategies.of(states, metadata, kinds, store);
            Registry registry = new Registry(kinds, store, metadata, strategies);
            ClusterObjects objects = new ClusterObjects(kinds, registry, store);
            NAMESPACES.forEach(objects::ensureNamespace);
            nodes.forEach(name -> objects.put(newNode(name, version)));
            return objects;
        }

        /**
         * Makes a server without sockets and threads, which answers the requests that it is given.
         *
         * @param timers run a task after a time: bookmarks, and the ends of watches
         * @throws IllegalArgumentException when the release has no such gate
         */
        public InMemoryApiServer inMemory(BiConsumer<Duration, Runnable> timers) {
            FeatureGates states = new FeatureGates(version, gates);
            ClusterObjects objects = objects(states);
            Serving serving = serving(states);
            return new InMemoryApiServer(
                    objects,
                    new InMemoryApi(objects.kinds(), objects.registry(), objects.store(), clock, serving, timers));
        }

        /**
         * Starts the server.
         *
         * @throws IllegalStateException when it cannot listen
         * @throws IllegalArgumentException when the release has no such gate
         */
        public EmbeddedApiServer start() {
            EmbeddedApiServer server = new EmbeddedApiServer(this);
            server.listener.start();
            return server;
        }
    }
}
