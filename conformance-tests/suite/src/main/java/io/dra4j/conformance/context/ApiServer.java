// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.Settings.ApiServerSettings;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.cluster.KubeconfigUpstream;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.ExternalSettings;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Upstream;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The API server of a test context, with the proxy in front of it, and its own node and namespace.
 *
 * <p>The suite's own requests to a real one go through a separate proxy, which adds the kubeconfig's credentials. Node
 * and namespace are deleted in the end, if they were made here; both have a label, by which those of a killed run can
 * be found.
 */
final class ApiServer {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration REACH = Duration.ofSeconds(15);

    /** The limit for metrics of a real server, which may be tens of megabytes. */
    private static final Duration READ = Duration.ofSeconds(20);

    private static final Pattern RELEASE = Pattern.compile("^v?1\\.(\\d+)");
    private static final int OLDEST = 34;

    private static final String PREFIX = "dra-conformance-";
    private static final String LABEL = "app.kubernetes.io/managed-by";
    private static final int SUFFIX = 6;

    private final Opened opened;
    private final ApiProxy proxy;
    private final ApiObjects cluster;
    private final String namespace;
    private final String version; // as it reports it, for example v1.36.2
    private final Supplier<KubernetesServer> kubernetes;
    private final Optional<ClusterObjects> store;
    private boolean isSilent; // for the thread that ends it

    /**
     * A name for the node and the namespace of a test context. On a real API server, it is unique: another run may be
     * active, or its namespace may still be terminating. On an embedded one, it is constant, so that reports can be
     * compared.
     */
    static String uniqueName(ApiServerSettings settings, String context) {
        return settings.isEmbedded()
                ? PREFIX + context
                : PREFIX + context + "-" + UUID.randomUUID().toString().substring(0, SUFFIX);
    }

    private ApiServer(Opened opened, ApiServerSettings settings, int proxyPort, String namespace) {
        this.opened = opened;
        this.namespace = namespace;
        if (settings.isEmbedded()) {
            EmbeddedApiServer embedded = opened.open(
                    () -> EmbeddedApiServer.builder().like(settings.gates()).start(), EmbeddedApiServer::close);
            proxy = before(Upstream.plain(embedded.url()), proxyPort);
            cluster = new ApiObjects(embedded.url());
            version = embedded.version().gitVersion();
            store = Optional.of(embedded.store());
            kubernetes = () -> KubernetesServer.embedded(settings.gates());
        } else {
            Upstream real = KubeconfigUpstream.read(Path.of(settings.kubeconfig()), settings.context());
            proxy = before(real, proxyPort);
            version = proxy.serverVersion(REACH); // keeps a driver from failing because of a wrong kubeconfig
            cluster = new ApiObjects(before(real, 0).url());
            cluster.requireResources(real.described() + ", Kubernetes " + version + ",");
            store = Optional.empty();
            kubernetes = () -> KubernetesServer.real(
                    version,
                    KubernetesVersion.nearest(minor()),
                    cluster.lines("/metrics", KubernetesServer.GATES, READ));
        }
    }

    /** Throws DriverUnusable if the port at which an external driver looks for the server is taken. */
    static ApiServer start(Settings settings, Optional<ServiceAccountAccess> access, String node, String namespace) {
        ExternalSettings external = settings.driver().external();
        int port = external == null ? 0 : external.proxyPort();
        Opened opened = new Opened();
        return Opened.orEnd(opened::end, () -> {
            ApiServer server = new ApiServer(opened, settings.apiServer(), port, namespace);
            access.ifPresent(limit -> server.allowOnly(limit, node));
            server.furnish(node);
            return server;
        });
    }

    private void allowOnly(ServiceAccountAccess access, String node) {
        access.serverIs(version);
        proxy.allowOnly(access, node);
    }

    private void furnish(String node) {
        if (make("/api/v1/nodes", labelled("Node", node))) {
            onEnd("the slices of node " + node, () -> deleteSlices(node));
        }
        ObjectNode object = labelled("Namespace", namespace);
        object.withObject("/metadata/labels").put("resource.kubernetes.io/admin-access", "true");
        make("/api/v1/namespaces", object);
    }

    private ApiProxy before(Upstream upstream, int port) {
        try {
            return opened.open(() -> ApiProxy.before(upstream, port), ApiProxy::close);
        } catch (IllegalStateException e) {
            throw new DriverUnusable("driver.external.proxyPort: " + e.getMessage());
        }
    }

    /** Deletes what no garbage collector deletes, because it has no owner. */
    private void deleteSlices(String node) {
        cluster.deleteCollection(
                ApiObjects.RESOURCE + "/resourceslices",
                "fieldSelector=" + ApiObjects.encoded("spec.nodeName=" + node));
    }

    /** Creates an object unless it exists, and returns whether it was created. */
    private boolean make(String collection, ObjectNode object) {
        String path = collection + "/" + object.at("/metadata/name").asText();
        if (cluster.find(path).isPresent()) {
            return false;
        }
        cluster.create(collection, object);
        onEnd(path, () -> cluster.delete(path));
        return true;
    }

    /**
     * Deletes something in the end, but only from a server that lasts. Once that does not answer, nothing more is tried:
     * each try takes half a minute, in which the program seems to hang.
     */
    private void onEnd(String what, Runnable deletion) {
        if (store.isPresent()) {
            return;
        }
        opened.onEnd(() -> {
            if (isSilent) {
                throw new IllegalStateException(what + " was not deleted: the server does not answer");
            }
            try {
                deletion.run();
            } catch (ApiRequestException e) {
                isSilent = e.getCause() != null;
                throw e;
            }
        });
    }

    static ObjectNode labelled(String kind, String name) {
        ObjectNode object = JSON.createObjectNode();
        object.put("apiVersion", "v1").put("kind", kind);
        ObjectNode metadata = object.putObject("metadata").put("name", name);
        metadata.putObject("labels").put(LABEL, "dra-conformance");
        return object;
    }

    /** The number after "1." of its release. */
    int minor() {
        Matcher release = RELEASE.matcher(version);
        return release.find() ? Integer.parseInt(release.group(1)) : OLDEST;
    }

    String namespace() {
        return namespace;
    }

    Optional<ClusterObjects> store() {
        return store;
    }

    /** Reads the gates of a real one, each time. */
    KubernetesServer kubernetes() {
        return kubernetes.get();
    }

    ApiObjects cluster() {
        return cluster;
    }

    ApiProxy proxy() {
        return proxy;
    }

    /** Reverts all changes, and returns a sentence for each failure. */
    List<String> end() {
        List<RuntimeException> failures = opened.end();
        for (RuntimeException failure : failures) {
            if (!(failure instanceof ApiRequestException || failure instanceof IllegalStateException)) {
                throw failure;
            }
        }
        return failures.stream()
                .map(failure -> "Objects of this run are left on the API server: " + failure.getMessage())
                .toList();
    }
}
