// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.pending;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.driver.HttpSettings;
import io.dra4j.runtime.internal.observe.HttpEndpoint;
import io.dra4j.runtime.internal.observe.HttpEndpoint.Probes;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of claims that wait, served by one process for the cluster.
 *
 * <p>It is ready even while the API server is unreachable: its metrics report that, and have to be scraped.
 */
public final class RunningClaimMetrics implements AutoCloseable {

    /** Replaces the node in requests, which concern none. */
    private static final String NO_NODE = "claim-metrics";

    private static final Duration API_CHECK = Duration.ofSeconds(2);

    private final Meters meters;
    private final Cluster cluster;
    private final HttpEndpoint endpoint;

    private RunningClaimMetrics(Meters meters, Cluster cluster, HttpEndpoint endpoint) {
        this.meters = meters;
        this.cluster = cluster;
        this.endpoint = endpoint;
    }

    /**
     * Starts serving.
     *
     * @param kubeconfig the kubeconfig file; {@code null} for the service account of the pod
     * @throws DraException if the API server has no such claims, or the port is not free
     */
    public static RunningClaimMetrics start(
            String driver, @Nullable Path kubeconfig, HttpSettings http, InstantSource clock) {
        return start(driver, kubeconfig, http, clock, PendingClaims.LIMIT);
    }

    static RunningClaimMetrics start(
            String driver, @Nullable Path kubeconfig, HttpSettings http, InstantSource clock, Duration limit) {
        DriverSettings.requireDriverName(driver);
        Meters meters = Meters.ofCluster(driver);
        Cluster cluster = Cluster.connect(kubeconfig, driver, NO_NODE, meters);
        PendingClaims claims = new PendingClaims(cluster::pendingClaims, clock, limit);
        meters.watchClaims(claims);
        HttpEndpoint endpoint = null;
        boolean started = false;
        try {
            // First: a registry does not see measurements made before it was added.
            endpoint = http.serve(meters, probes(claims));
            meters.watch(Metric.BUILD_INFO, () -> 1, Cluster.release());
            cluster.requireDraApi(API_CHECK);
            started = true;
            return new RunningClaimMetrics(meters, cluster, endpoint);
        } finally {
            if (!started) {
                close(endpoint, cluster, meters);
            }
        }
    }

    private static Probes probes(PendingClaims claims) {
        return new Probes(
                Optional::empty,
                List::of,
                () -> claims.problem().isEmpty() ? List.of() : List.of("no list of claims: " + claims.problem()),
                () -> true);
    }

    public InetSocketAddress address() {
        return endpoint.address();
    }

    @Override
    public void close() {
        close(endpoint, cluster, meters);
    }

    private static void close(@Nullable HttpEndpoint endpoint, Cluster cluster, Meters meters) {
        if (endpoint != null) {
            endpoint.close();
        }
        cluster.close();
        meters.close();
    }
}
