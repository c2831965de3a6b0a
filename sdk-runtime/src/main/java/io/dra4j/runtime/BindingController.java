// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.driver.RunningController;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sets the binding conditions of a driver's devices for all nodes of a cluster, beside the drivers
 * on the nodes or instead of their own {@link DraDriver.Builder#readinessCheck readiness checks}.
 *
 * <p>It follows the claims of the cluster, and calls the check for each device of the driver that
 * the scheduler waits for, every five seconds until its conditions hold. Nothing is remembered:
 * after a restart the claims themselves have the values. Conditions that a node's driver has set
 * are left as they are; both may run, since the first one ends the wait.
 *
 * <p>Its ServiceAccount needs the verbs list and watch of resourceclaims, and get and update, or
 * patch, of resourceclaims/status; since Kubernetes 1.36 also arbitrary-node:update, or
 * arbitrary-node:patch, of resourceclaims/driver.
 */
public final class BindingController implements AutoCloseable {

    private final String driverName;
    private final ReadinessCheck check;
    private @Nullable Path kubeconfig;
    private @Nullable RunningController running;

    private BindingController(String driverName, ReadinessCheck check) {
        this.driverName = driverName;
        this.check = check;
    }

    /**
     * Makes a controller, which is yet to be started.
     *
     * @param driverName the name of the driver whose devices are bound
     * @param check returns the conditions of a pending device, on whatever node it is
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
     * Begins to follow claims, and returns; an API server that can't be reached is waited for.
     *
     * @throws DraException if the driver's name, the kubeconfig file or the service account is not
     *     valid, or the server does not have the API
     * @throws IllegalStateException if it was started before
     */
    public synchronized void start() {
        if (running != null) {
            throw new IllegalStateException("A controller can be started once");
        }
        running = RunningController.start(driverName, kubeconfig, check);
    }

    /** Stops; conditions that are set stay. A call of the check that runs is not interrupted. */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.close();
        }
    }
}
