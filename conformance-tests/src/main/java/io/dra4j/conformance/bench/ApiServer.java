// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.apiserver.EmbeddedApiServer;
import io.dra4j.conformance.apiserver.KubernetesVersion;
import io.dra4j.conformance.cluster.Cluster;
import io.dra4j.conformance.proxy.ApiProxy;
import io.dra4j.conformance.settings.Settings.ApiServerSettings;
import org.jspecify.annotations.Nullable;

/** The API server of a bench, with the proxy before it, and a node and a namespace of its own. */
final class ApiServer implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final @Nullable EmbeddedApiServer embedded;
    private final ApiProxy proxy;
    private final Cluster cluster;

    private ApiServer(EmbeddedApiServer embedded) {
        this.embedded = embedded;
        proxy = ApiProxy.before(embedded.url());
        cluster = new Cluster(embedded.url());
    }

    static ApiServer start(ApiServerSettings settings, String node, String namespace) {
        ApiServer server =
                new ApiServer(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.parse(settings.kubernetes()))
                                .node(node)
                                .start());
        server.cluster.create("/api/v1/namespaces", namespace(namespace));
        return server;
    }

    private static ObjectNode namespace(String name) {
        ObjectNode namespace = JSON.createObjectNode();
        namespace.put("apiVersion", "v1").put("kind", "Namespace");
        namespace
                .putObject("metadata")
                .put("name", name)
                .putObject("labels")
                .put("resource.kubernetes.io/admin-access", "true");
        return namespace;
    }

    Cluster cluster() {
        return cluster;
    }

    ApiProxy proxy() {
        return proxy;
    }

    @Override
    public void close() {
        proxy.close();
        if (embedded != null) {
            embedded.close();
        }
    }
}
