// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceLimits;
import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.driver.RunningDriver;
import io.dra4j.runtime.takeover.TakeOver;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs a {@link DeviceProvider} as a DRA driver: the SDK's entry point.
 *
 * <p>It serves the kubelet on two sockets, publishes the provider's inventory, and prepares claims.
 * It installs no signal handler and never ends the JVM; the host decides when to {@link #close}.
 *
 * <p>Thread-safe. An object is started once and closed once.
 */
public final class DraDriver implements AutoCloseable {

    static final int SMALLEST_SLICE = SliceLimits.of(KubernetesVersion.newest()).complexDevices();

    private static final int LARGEST_SLICE = SliceLimits.DEVICES;

    private final DriverSettings settings;
    private final DeviceProvider provider;
    private boolean started; // guarded by this, as is the next
    private @Nullable RunningDriver running;

    private DraDriver(DriverSettings settings, DeviceProvider provider) {
        this.settings = settings;
        this.provider = provider;
    }

    /**
     * Returns a builder of a driver.
     *
     * @param driverName the driver's name: a lower-case DNS subdomain of at most 63 characters
     * @param nodeName the name of the Node object that the driver runs on
     * @param provider the vendor's part
     * @return a builder with the defaults of a kubelet plugin
     */
    public static Builder builder(String driverName, String nodeName, DeviceProvider provider) {
        return new Builder(driverName, nodeName, provider);
    }

    /**
     * Starts the driver, and returns once its sockets serve.
     *
     * <p>In order: the journal is read, the provider starts and returns its first inventory (within half a minute), CDI
     * specs are reconciled with the journal, the service socket appears, then the registration socket, and publishing
     * begins. The API server is asked for its version in parallel: it need not be reachable, but if it is too old, the
     * start fails before a socket appears. If a step fails, those before it are undone, and the provider is closed.
     *
     * @throws DraException if the driver can't serve on this node; the message has the next step
     * @throws IllegalStateException if it was started before, even if that failed
     */
    public synchronized void start() {
        if (started) {
            throw new IllegalStateException("A DraDriver can be started only once; build another");
        }
        started = true;
        running = new RunningDriver(settings, provider);
    }

    /**
     * Waits until the kubelet has confirmed the registration.
     *
     * @param timeout how long to wait
     * @return true if it has
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return running().awaitRegistered(timeout);
    }

    /**
     * Waits until the cluster's slices equal the inventory.
     *
     * <p>Devices that this API server can't protect do not count: they are withdrawn, and the
     * {@link DriverListener} is notified. While a pool is invalid, the result is false.
     *
     * @param timeout how long to wait
     * @return true if they are equal
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean awaitPublished(Duration timeout) throws InterruptedException {
        return running().awaitPublished(timeout);
    }

    /**
     * Returns the port at which metrics and probes are served over HTTP: the bound one if port 0 was requested.
     *
     * @return the port; empty without {@link Builder#httpEndpoint}
     * @throws IllegalStateException if the driver was not started
     */
    public OptionalInt httpPort() {
        return running().httpPort();
    }

    /**
     * Returns the port at which a pod's gRPC probes are answered: the bound one if port 0 was requested.
     *
     * @return the port; empty without {@link Builder#healthcheckPort}
     * @throws IllegalStateException if the driver was not started
     */
    public OptionalInt healthcheckPort() {
        return running().healthcheckPort();
    }

    /**
     * Stops the driver: calls in flight end, the sockets disappear, the provider is closed.
     *
     * <p>Prepared claims and their CDI specs stay: containers use them. Published slices stay as well,
     * unless the driver was built with {@link Builder#removeSlicesOnClose}. It takes at most about
     * 10 seconds in addition to that removal and the provider's close, and does nothing on a driver
     * that does not run.
     */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.close();
        }
    }

    private synchronized RunningDriver running() {
        if (running == null) {
            throw new IllegalStateException("The driver was not started");
        }
        return running;
    }

    /** Builds a {@link DraDriver}; all methods except the last return the builder. Not thread-safe. */
    public static final class Builder {
        private final DriverSettings settings;
        private final DeviceProvider provider;

        private Builder(String driverName, String nodeName, DeviceProvider provider) {
            this.settings = new DriverSettings(
                    Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(nodeName, "nodeName"));
            this.provider = Objects.requireNonNull(provider, "provider");
            metadataVersions(MetadataVersion.values());
        }

        /**
         * Sets the kubeconfig file; without one, the driver uses the service account of its pod.
         *
         * @param file the file, or {@code null}
         */
        public Builder kubeconfig(@Nullable Path file) {
            settings.kubeconfig = file;
            return this;
        }

        /**
         * Sets the directory of CDI specs; {@code /var/run/cdi} by default.
         *
         * @param directory a directory that the container runtime reads
         */
        public Builder cdiRoot(Path directory) {
            settings.cdiRoot = directory.toAbsolutePath().normalize();
            return this;
        }

        /**
         * Sets the kubelet's directory of plugin data; {@code /var/lib/kubelet/plugins} by default.
         *
         * <p>The driver keeps its service socket and its journal in a subdirectory named after the driver. The directory must
         * have the same path for the kubelet.
         *
         * @param directory the directory
         */
        public Builder kubeletPluginsDirectory(Path directory) {
            settings.pluginsDirectory = directory.toAbsolutePath().normalize();
            return this;
        }

        /**
         * Sets the kubelet's directory of registration sockets; {@code /var/lib/kubelet/plugins_registry} by default.
         *
         * @param directory the directory
         */
        public Builder kubeletRegistrarDirectory(Path directory) {
            settings.registrarDirectory = directory.toAbsolutePath().normalize();
            return this;
        }

        /**
         * Sets where the host's proc file system is mounted; {@code /proc} by default.
         *
         * @param directory the mount point
         */
        public Builder procRoot(Path directory) {
            settings.procRoot = directory;
            return this;
        }

        /**
         * Names the sockets after the driver's pod, so that an old and a new instance can run side
         * by side during a rolling update (kubelet 1.33 or newer).
         *
         * <p>A second instance with the same UID, or a second one with none, is refused when it
         * starts, while the first runs; after a crash the next one starts immediately.
         *
         * @param uid the pod's UID; {@code null} or empty for one instance at a time
         */
        public Builder podUid(@Nullable String uid) {
            settings.podUid = uid == null || uid.isEmpty() ? null : uid;
            return this;
        }

        /**
         * Lets the provider work on only one claim at a time, in all processes of the driver on the node.
         *
         * <p>{@code prepare} and {@code unprepare} never overlap, even while a rolling update runs two processes; other
         * calls of the provider do. Waiting processes take turns, and a process that ends gives up its turn. A claim
         * whose turn has not come before the kubelet's deadline is answered as still in progress, and the kubelet tries
         * again. With a single process it costs microseconds per call.
         */
        public Builder serialized() {
            settings.serialized = true;
            return this;
        }

        /**
         * Sets the clock; the system's by default.
         *
         * @param source the clock
         */
        public Builder clock(InstantSource source) {
            settings.clock = source;
            return this;
        }

        /**
         * Adds a listener for problems in the background, which is notified after those added before, unless one of
         * them throws; by default, problems are only logged.
         *
         * @param host the listener
         */
        public Builder listener(DriverListener host) {
            settings.onRecoverable = settings.onRecoverable.andThen(host::recoverable);
            settings.onFatal = settings.onFatal.andThen(host::fatal);
            return this;
        }

        /**
         * Makes {@link DraDriver#close} delete the driver's slices of this node, for an uninstall job; by default they
         * stay, so that a restart changes nothing. They also stay if another instance of the driver runs on the node.
         */
        public Builder removeSlicesOnClose() {
            settings.removesSlicesOnClose = true;
            return this;
        }

        /**
         * Sets the check of devices with binding conditions; without it, the scheduler waits until its timeout.
         *
         * @param check returns the conditions of a pending device
         */
        public Builder readinessCheck(ReadinessCheck check) {
            settings.readinessCheck = Objects.requireNonNull(check, "check");
            return this;
        }

        /**
         * Sets how many devices a slice may have; 64 by default.
         *
         * <p>The API allows 128 devices in a slice in which no device has a taint, consumes counters or has a list
         * attribute, and 64 otherwise. With 128, a driver of thousands of devices without any of these needs half the
         * slices. A pool that has such a device anyway gets slices of 64 devices, and its devices move between slices.
         *
         * @param limit 64 or 128
         * @throws IllegalArgumentException if it is neither
         * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
         *     ResourceSlice, devices</a>
         */
        public Builder devicesPerSlice(int limit) {
            if (limit != SMALLEST_SLICE && limit != LARGEST_SLICE) {
                throw new IllegalArgumentException("limit is %d; a slice has at most %d or %d devices"
                        .formatted(limit, SMALLEST_SLICE, LARGEST_SLICE));
            }
            settings.mayTaint = limit == SMALLEST_SLICE;
            return this;
        }

        /**
         * Serves the health of devices to the kubelet; by default it is not served.
         *
         * <p>The provider reports it by {@link io.dra4j.api.DriverContext#reportHealth}. The kubelet asks once, when it
         * registers the driver, and ignores a different answer later.
         *
         * @see <a
         *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4680-add-resource-health-to-pod-status">
         *     KEP-4680</a>
         */
        public Builder healthService() {
            settings.healthService = true;
            return this;
        }

        /**
         * Taints devices that the provider reports as unhealthy with {@code <driver>/unhealthy}
         * until it reports them as healthy; by default, health causes no taints. It needs the {@link #healthService}.
         *
         * <p>A device of unknown health keeps its taint: unknown is not healthy. The device is not published to an API
         * server that does not keep taints.
         *
         * @param effect what the taint does; {@code null} to taint nothing
         */
        public Builder taintUnhealthy(Taint.@Nullable Effect effect) {
            settings.unhealthyTaint = effect;
            return this;
        }

        /**
         * Serves metrics and the probes {@code /healthz}, {@code /readyz} and {@code /startupz} over
         * HTTP; by default nothing is served.
         *
         * <p>Metrics go to Micrometer's global registry in any case: a host with its own registries adds them there,
         * and what a provider counts there is also served. Of several drivers in one JVM, each serves metrics labeled
         * with its own {@code driver} and {@code node}, and metrics without these labels.
         *
         * @param endpoint {@code host:port}, or {@code :port} for all addresses of the machine; port 0 for any that is
         *     free, see {@link DraDriver#httpPort}; {@code null} to serve nothing
         */
        public Builder httpEndpoint(@Nullable String endpoint) {
            settings.httpEndpoint = endpoint;
            return this;
        }

        /**
         * Sets the path of the metrics; {@code /metrics} by default.
         *
         * @param path the path
         */
        public Builder metricsPath(String path) {
            settings.metricsPath = path;
            return this;
        }

        /**
         * Sets a TCP port for a pod's gRPC probes; none by default.
         *
         * <p>Each check calls both of the driver's sockets as the kubelet does.
         *
         * @param port the port; 0 for any that is free, see {@link DraDriver#healthcheckPort}; negative for none
         */
        public Builder healthcheckPort(int port) {
            settings.healthcheckPort = port;
            return this;
        }

        /**
         * Sets the file by which admins exclude, describe and taint devices; none by default.
         *
         * <p>It is read when the driver starts, and again when it changes. A file that can't be applied ends the start;
         * later it is reported, and the previous policy stays in force.
         *
         * @param file the file, as YAML or JSON; {@code null} for none
         */
        public Builder devicePolicy(@Nullable Path file) {
            settings.devicePolicy = file;
            return this;
        }

        /**
         * Checks whether a device plugin offers the same devices on the node; off by default.
         *
         * <p>The plugin's resources are those in the driver's own domain, and those of known vendors' plugins, such as
         * {@code nvidia.com/gpu} in addition to {@code gpu.nvidia.com}. The Node is read at the start and every few
         * minutes. Claims that are allocated are prepared in any case.
         *
         * @param choice what to do then; {@code null} to skip the check
         */
        public Builder legacyPlugin(@Nullable LegacyPlugin choice) {
            settings.watchesLegacyPlugin = choice != null;
            settings.withholdsBesideLegacyPlugin = choice == LegacyPlugin.WITHHOLD;
            return this;
        }

        /**
         * Takes over the claims that another driver of this name has left prepared; by default they are not touched.
         *
         * @param other the other driver's state on the node
         */
        public Builder takeOver(TakeOver other) {
            settings.takeOver = Objects.requireNonNull(other, "other");
            return this;
        }

        /**
         * Sets the versions in which containers find the metadata of their devices; all by default.
         *
         * <p>A file has a document for each version, newest first, regardless of the order here.
         *
         * @param versions the versions, with {@link MetadataVersion#V1BETA1} among them
         * @throws DraException if {@link MetadataVersion#V1BETA1} is missing, which readers of Kubernetes 1.37 rely on
         */
        public Builder metadataVersions(MetadataVersion... versions) {
            Set<MetadataVersion> chosen = EnumSet.noneOf(MetadataVersion.class);
            for (MetadataVersion version : Objects.requireNonNull(versions, "versions")) {
                chosen.add(Objects.requireNonNull(version, "a version"));
            }
            if (!chosen.contains(MetadataVersion.V1BETA1)) {
                throw new DraException("metadataVersions: V1BETA1 is missing from "
                        + chosen
                        + "; readers of Kubernetes 1.37 rely on it");
            }
            settings.metadataVersions =
                    chosen.stream().map(MetadataVersion::text).toList();
            return this;
        }

        /**
         * Builds the driver; a builder builds only one.
         *
         * @return the driver, not started
         * @throws DraException if the driver's or the node's name, or the HTTP endpoint, is not valid, or unhealthy
         *     devices are to be tainted without the health service
         */
        public DraDriver build() {
            settings.check();
            return new DraDriver(settings, provider);
        }
    }
}
