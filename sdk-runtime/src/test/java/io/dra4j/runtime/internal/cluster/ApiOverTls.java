// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClusterUnderTest.EventKinds;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** An API server over TLS, as a pod reaches it: by its service account, through what may fail. */
abstract class ApiOverTls {

    /** The kubelet waits as long for a prepare. */
    static final Duration PREPARE = Duration.ofSeconds(45);

    @TempDir
    Path folder;

    @AutoClose
    final EmbeddedApiServer server = EmbeddedApiServer.builder().tls().start();

    @AutoClose
    final TcpProxy proxy = TcpProxy.before(server.tlsUrl());

    private final List<ApiClient> clients = new ArrayList<>();

    final EventKinds<String> events = new EventKinds<>();

    private ClaimRef claim;

    @BeforeEach
    void putAClaim() {
        String uid = server.store().put(Json.parse("""
                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
                         "metadata":{"name":"c","namespace":"default"},
                         "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}
                        """)).at("/metadata/uid").asText();
        claim = new ClaimRef("default", "c", uid);
    }

    @AfterEach
    void closeClients() {
        clients.forEach(ApiClient::close);
    }

    ApiClient inCluster() throws Exception {
        server.writeServiceAccount(folder);
        Map<String, String> environment = Map.of(
                "KUBERNETES_SERVICE_HOST", "127.0.0.1", "KUBERNETES_SERVICE_PORT", Integer.toString(proxy.port()));
        return opened(new ApiClient(null, () -> ClientConfig.of(ClientConfig.inCluster(environment, folder), "d")));
    }

    ApiClient byKubeconfig(Path kubeconfig) {
        return opened(new ApiClient(kubeconfig, () -> ClientConfig.of(kubeconfig, "d")));
    }

    private ApiClient opened(ApiClient client) {
        clients.add(client);
        return client;
    }

    static Cluster driver(ApiClient client) {
        return new Cluster(client, "gpu.example.com", "node-a", Meters.none());
    }

    /** Reads the claim as a prepare does, and returns how long it took. */
    Duration read(Cluster driver) {
        long start = System.nanoTime();
        driver.claimReader().read(claim, PREPARE);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    void changeTheClaim() {
        server.store().change("resourceclaims", "default", "c", object -> {
            ObjectNode labels = object.withObject("/metadata/labels");
            labels.put("times", Integer.toString(labels.path("times").asInt() + 1));
        });
    }

    Watch watch(Cluster driver) {
        String now = driver.claimFeed().list(claim -> {});
        return driver.claimFeed().watch(now, events);
    }

    String nextEvent() throws InterruptedException {
        return String.valueOf(events.kinds.poll(20, TimeUnit.SECONDS));
    }
}
