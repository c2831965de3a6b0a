// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.status.BindingLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** A controller that runs: a client of the API server, and the loop that binds devices. */
public final class RunningController implements AutoCloseable {

    /** Stands in metrics and in requests where a driver has its node. */
    private static final String EVERYWHERE = "controller";

    /** Stands for the node in the field manager; no node has that name. */
    private static final String ALL_NODES = "*";

    private static final Duration API_CHECK = Duration.ofSeconds(2);

    private final Cluster cluster;
    private final BindingLoop loop;
    private final Meters meters;

    private RunningController(Cluster cluster, BindingLoop loop, Meters meters) {
        this.cluster = cluster;
        this.loop = loop;
        this.meters = meters;
    }

    /** Starts to bind the devices of a driver, of all pools. */
    public static RunningController start(String driver, @Nullable Path kubeconfig, ReadinessCheck check) {
        DriverSettings.requireDriverName(driver);
        Meters meters = Meters.global(driver, EVERYWHERE);
        Cluster cluster = Cluster.connect(kubeconfig, driver, EVERYWHERE, meters);
        boolean started = false;
        try {
            cluster.requireDraApi(API_CHECK);
            BindingLoop loop = new BindingLoop(parts(driver, check, cluster), thread());
            started = true;
            return new RunningController(cluster, loop, meters);
        } finally {
            if (!started) {
                cluster.close();
                meters.close();
            }
        }
    }

    private static BindingLoop.Parts parts(String driver, ReadinessCheck check, Cluster cluster) {
        return new BindingLoop.Parts(
                driver,
                ALL_NODES,
                check,
                pool -> true,
                cluster.claimFeed(),
                cluster.claimStatuses(),
                InstantSource.system());
    }

    private static ScheduledExecutorService thread() {
        return Executors.newSingleThreadScheduledExecutor(RunningClaims.threads("dra4j-binding-"));
    }

    @Override
    public void close() {
        loop.close();
        cluster.close();
        meters.close();
    }
}
