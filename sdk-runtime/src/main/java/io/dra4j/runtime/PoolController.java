// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.LeaseStore.LeaseTimes;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.driver.RunningPools;
import io.dra4j.runtime.internal.driver.RunningPools.Candidacy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Publishes pools of several nodes from a Deployment, as {@link DraDriver} publishes those of a node.
 *
 * <p>Of the processes of a driver that share a Lease, one leads and publishes the provider's {@link
 * DeviceProvider#inventory inventory}; when it ends, or can't renew the Lease, another reads the existing slices and
 * continues with them. No device of a pool is ever offered twice, and none is missing in between. The pools are placed
 * by a node selector, on all nodes or per device; the drivers on the nodes have them as {@link
 * io.dra4j.api.device.Pool#publishedElsewhere published elsewhere}, and prepare their devices. A controller prepares
 * nothing: of a provider, {@code start}, {@code inventory}, {@code restartReason} and {@code close} are called, with a
 * context that holds no claims and has no node. It can't honour {@linkplain
 * io.dra4j.api.device.Device.Builder#physicalId ids of hardware}: a name must always mean the same device.
 *
 * <p>Its slices have no owner: they stay when it ends, and have to be deleted when the driver is uninstalled. It
 * assumes that all of the driver's slices with neither a node nor an owner are its own, so a cluster can have only one
 * controller of a driver. Its ServiceAccount needs the verbs get, create and update of leases, and list, watch, create,
 * update and delete of resourceslices.
 *
 * <p>Thread-safe. An object is started once and closed once.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/architecture/leases/">Leases</a>
 */
public final class PoolController implements AutoCloseable {

    private final DriverSettings settings;
    private final DeviceProvider provider;
    private String namespace = "";
    private LeaseTimes times = new LeaseTimes(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2));
    private boolean started; // guarded by this, as is the next
    private @Nullable RunningPools running;

    private PoolController(String driverName, DeviceProvider provider) {
        this.settings = new DriverSettings(driverName, "");
        this.provider = provider;
    }

    /**
     * Creates a controller, not yet started.
     *
     * @param driverName the name of the driver whose pools are published; its Lease is called {@code
     *     <driver>-controller}
     * @param provider has the inventory
     * @return the controller
     */
    public static PoolController of(String driverName, DeviceProvider provider) {
        return new PoolController(
                Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(provider, "provider"));
    }

    /**
     * Sets the kubeconfig file; without one, the controller uses the service account of its pod.
     *
     * @param file the file; empty for the pod's service account
     */
    public PoolController kubeconfig(Optional<Path> file) {
        settings.kubeconfig = file.orElse(null);
        return this;
    }

    /**
     * Sets the namespace of the Lease; by default the namespace of the pod or of the kubeconfig's context.
     *
     * @param name the namespace
     */
    public PoolController leaseNamespace(String name) {
        namespace = name;
        return this;
    }

    /**
     * Sets the times of the leader election; 15, 10 and 2 seconds by default, as in Go controllers.
     *
     * @param duration how long a Lease that is not renewed is left to its holder: whole seconds
     * @param renewDeadline how long after its last renewal a leader may still write; requests in flight at that time
     *     end before {@code duration} has passed
     * @param retryPeriod the time between two attempts to take or renew the Lease
     * @throws DraException unless {@code duration} is at least a second longer than {@code renewDeadline}, and {@code
     *     renewDeadline} is longer than {@code retryPeriod}
     */
    public PoolController leaseTimes(Duration duration, Duration renewDeadline, Duration retryPeriod) {
        times = new LeaseTimes(duration, renewDeadline, retryPeriod);
        return this;
    }

    /**
     * Serves metrics and probes, like {@link DraDriver.Builder#httpEndpoint}; by default nothing is served.
     *
     * @param endpoint {@code host:port}, or {@code :port}; {@code null} for nowhere
     * @param metricsPath the path of the metrics, for instance {@code /metrics}
     */
    public PoolController httpEndpoint(@Nullable String endpoint, String metricsPath) {
        settings.httpEndpoint = endpoint;
        settings.metricsPath = metricsPath;
        return this;
    }

    /**
     * Adds a listener for problems in the background, as {@link DraDriver.Builder#listener} does.
     *
     * @param host the listener
     */
    public PoolController listener(DriverListener host) {
        settings.onRecoverable = settings.onRecoverable.andThen(host::recoverable);
        settings.onFatal = settings.onFatal.andThen(host::fatal);
        return this;
    }

    /**
     * Starts the provider and the election, and returns; it retries until the API server can be reached.
     *
     * @throws DraException if the driver's name, the kubeconfig file, the service account or the HTTP endpoint is not
     *     valid, the server does not have the API, or the provider can't start; the provider is closed
     * @throws IllegalStateException if it was started before, even if that failed
     */
    public synchronized void start() {
        if (started) {
            throw new IllegalStateException("A controller can be started only once");
        }
        started = true;
        // Not only the pod's name: another container of the pod must not mistake the Lease for its own.
        String identity = Objects.requireNonNullElse(System.getenv("HOSTNAME"), "controller") + "_" + UUID.randomUUID();
        String lease = settings.driverName + "-controller";
        running = new RunningPools(settings, provider, new Candidacy(namespace, lease, identity, times));
    }

    /** Stops, and lets another process lead; the slices stay. It takes a few seconds at most. */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.close();
        }
    }
}
