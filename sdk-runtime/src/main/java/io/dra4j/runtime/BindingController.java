// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.status.BindingLoop;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sets the binding conditions of a driver's devices for all nodes of a cluster, in addition to the drivers on the nodes
 * or instead of their {@link DraDriver.Builder#readinessCheck readiness checks}.
 *
 * <p>It watches the claims of the cluster, and calls the check for each device of the driver that the scheduler waits
 * for, every five seconds until its conditions hold. It stores nothing: after a restart, it reads the values from the
 * claims. Conditions that a node's driver has set are left as they are; both may run, since the first one ends the
 * wait.
 *
 * <p>Its ServiceAccount needs the verbs list and watch of resourceclaims, and patch of resourceclaims/status, or else
 * get of resourceclaims and update of resourceclaims/status; since Kubernetes 1.36 also arbitrary-node:patch, or
 * arbitrary-node:update, of resourceclaims/driver.
 */
public final class BindingController implements AutoCloseable {

    /** Replaces the node in metrics and in requests. */
    private static final String EVERYWHERE = "controller";

    /** Stands for the node in the field manager; no node has that name. */
    private static final String ALL_NODES = "*";

    private static final Duration API_CHECK = Duration.ofSeconds(2);

    private final String driverName;
    private final ReadinessCheck check;
    private @Nullable Path kubeconfig;
    private @Nullable Runnable running; // closes what runs

    private BindingController(String driverName, ReadinessCheck check) {
        this.driverName = driverName;
        this.check = check;
    }

    /**
     * Creates a controller, not yet started.
     *
     * @param driverName the name of the driver whose devices are bound
     * @param check returns the conditions of a pending device, on any node
     * @return the controller
     */
    public static BindingController of(String driverName, ReadinessCheck check) {
        return new BindingController(
                Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(check, "check"));
    }

    /**
     * Sets the kubeconfig file; without one, the controller uses the service account of its pod.
     *
     * @param file the file; empty for the pod's service account
     * @return this controller
     */
    public BindingController kubeconfig(Optional<Path> file) {
        kubeconfig = file.orElse(null);
        return this;
    }

    /**
     * Runs a controller as a program until a signal, as {@link DriverMain} runs drivers; it never returns.
     *
     * @param args the command line
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param controller creates the controller from the filled options
     * @param <O> the program's own options
     */
    public static <O extends ProgramOptions> void run(
            String[] args, DriverProgram program, O options, Function<? super O, BindingController> controller) {
        ProgramMain main = ProgramMain.of(program);
        main.exit(() -> main.execute(main.serving(main.line(options), () -> started(controller.apply(options))), args));
    }

    private static Runnable started(BindingController controller) {
        controller.start();
        return controller::close;
    }

    /**
     * Starts watching claims, and returns; it retries until the API server can be reached.
     *
     * @throws DraException if the driver's name, the kubeconfig file or the service account is not
     *     valid, or the server does not have the API
     * @throws IllegalStateException if it was started before
     */
    public synchronized void start() {
        if (running != null) {
            throw new IllegalStateException("A controller can be started only once");
        }
        DriverSettings.requireDriverName(driverName);
        Meters meters = Meters.global(driverName, EVERYWHERE);
        try {
            start(meters);
        } finally {
            if (running == null) {
                meters.close();
            }
        }
    }

    private void start(Meters meters) {
        Cluster cluster = Cluster.connect(kubeconfig, driverName, EVERYWHERE, meters);
        try {
            cluster.requireDraApi(API_CHECK);
            BindingLoop loop = new BindingLoop(parts(cluster), ShortLivedThreads.upkeep("dra4j-binding"));
            running = () -> {
                loop.close();
                cluster.close();
                meters.close();
            };
        } finally {
            if (running == null) {
                cluster.close();
            }
        }
    }

    private BindingLoop.Parts parts(Cluster cluster) {
        return new BindingLoop.Parts(
                driverName,
                ALL_NODES,
                check,
                () -> true,
                pool -> true,
                cluster.claimFeed(),
                cluster.claimStatuses(),
                InstantSource.system());
    }

    /** Stops; conditions that are set stay. A running call of the check is not interrupted. */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.run();
        }
    }
}
