// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.controllers.AllocationWriter;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.junit.NodeExtension;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A provider in a {@link DraDriver} of this JVM, on a node with an API server and a kubelet.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final RunningDriver<FpgaProvider> DRIVER =
 *         RunningDriver.of("fpga.example.com", FpgaProvider::new);
 *
 * @Test
 * void aContainerSeesItsBoard() {
 *     KubeletClaim claim = DRIVER.allocate("fpga-0");
 *     DRIVER.prepare(claim).hasDeviceNode("/dev/fpga-0");
 *     DRIVER.unprepare(claim);
 * }
 * }</pre>
 *
 * <p>Registered in a static field, it lives as long as the tests of the class; in an instance field,
 * as long as one test. A test begins once the kubelet has registered the driver. All waits end
 * after {@link TestNode#TIMEOUT} with an {@link AssertionError}, those for slices sooner if the
 * driver says that a pool is invalid.
 *
 * @param <P> the provider
 */
public final class RunningDriver<P extends DeviceProvider> extends NodeExtension {

    /** The name of the node. */
    public static final String NODE = TestNode.NAME;

    private final String driverName;
    private final Function<String, P> providers;
    private final InProcessDriver adapter = new InProcessDriver(this::open);
    private Consumer<DraDriver.Builder> driverSettings = builder -> {};
    private Duration timeout = TestNode.TIMEOUT;
    private AtomicInteger claims = new AtomicInteger(); // of all drivers of the node
    private volatile @Nullable P provider;
    private volatile @Nullable Place place;
    private volatile @Nullable Instance instance;
    private volatile @Nullable PluginInfo plugin;

    private RunningDriver(String driverName, Function<String, P> providers) {
        this.driverName = driverName;
        this.providers = providers;
    }

    /**
     * Returns a driver that does not run yet.
     *
     * @param driverName the driver's name
     * @param providers makes a provider for the node of this name, for each start
     * @param <P> the provider
     * @return the extension
     */
    public static <P extends DeviceProvider> RunningDriver<P> of(String driverName, Function<String, P> providers) {
        return new RunningDriver<>(
                Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(providers, "providers"));
    }

    /**
     * Changes the driver before each start, for example to serve its health.
     *
     * @param change changes the builder
     * @return this extension
     */
    public RunningDriver<P> withDriver(Consumer<DraDriver.Builder> change) {
        driverSettings = driverSettings.andThen(change);
        return this;
    }

    /**
     * Changes the API server before it starts, for example its Kubernetes version.
     *
     * @param change changes the builder
     * @return this extension
     */
    public RunningDriver<P> withServer(Consumer<EmbeddedApiServer.Builder> change) {
        changeServer(change);
        return this;
    }

    /**
     * Sets the longest wait; {@link TestNode#TIMEOUT} by default.
     *
     * @param limit after which a wait fails
     * @return this extension
     */
    public RunningDriver<P> withTimeout(Duration limit) {
        timeout = Objects.requireNonNull(limit, "limit");
        return this;
    }

    @Override
    protected TestNode make(EmbeddedApiServer.Builder server) {
        return new TestNode(driverName, adapter, server);
    }

    @Override
    protected void begin(TestNode made) throws InterruptedException {
        run(made, made.place());
    }

    private void run(TestNode on, Place where) throws InterruptedException {
        place = where;
        instance = on.startRegistered(adapter, where, timeout);
        List<PluginInfo> instances = on.kubelet().plugins(driverName);
        plugin = instances.get(instances.size() - 1);
    }

    private DraDriver open(Place where) {
        P made = providers.apply(where.node());
        provider = made;
        DraDriver.Builder builder =
                builder(where, made).podUid(UUID.randomUUID().toString());
        driverSettings.accept(builder);
        DraDriver driver = builder.build();
        driver.start();
        return driver;
    }

    static DraDriver.Builder builder(Place place, DeviceProvider provider) {
        return DraDriver.builder(place.driver(), place.node(), provider)
                .kubeconfig(place.kubeconfig())
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry());
    }

    /**
     * Returns the provider that runs.
     *
     * @return the provider that was made for the last start
     * @throws IllegalStateException if no test runs, or after {@link #stop}
     */
    public P provider() {
        return running(provider);
    }

    private <T> T running(@Nullable T part) {
        if (!required(instance).isAlive()) {
            throw new IllegalStateException("This driver was stopped; restart() starts it again");
        }
        return required(part);
    }

    private static <T> T required(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("The driver runs only during tests");
        }
        return value;
    }

    /**
     * Starts another driver on this node, where it runs until the node ends, or until {@link #stop}.
     *
     * @param other a driver that does not run, and is not registered as an extension
     * @param <Q> its provider
     * @return the other driver
     * @throws InterruptedException if the thread was interrupted
     */
    public <Q extends DeviceProvider> RunningDriver<Q> start(RunningDriver<Q> other) throws InterruptedException {
        other.share(node());
        other.claims = claims;
        other.run(node(), node().place().of(other.driverName));
        return other;
    }

    /**
     * Starts a second instance of this driver, with its own provider, as a rolling update does
     * before the first one ends: each is called through its own object.
     *
     * @return the second instance
     * @throws InterruptedException if the thread was interrupted
     */
    public RunningDriver<P> startSecond() throws InterruptedException {
        return start(of(driverName, providers).withDriver(driverSettings).withTimeout(timeout));
    }

    /** Stops the driver, as the termination of its pod does; its claims stay prepared, and it can't be called. */
    public void stop() {
        required(instance).kill();
    }

    /**
     * Stops the driver and starts it again, with a new provider and the journal of the old one.
     *
     * @throws InterruptedException if the thread was interrupted
     */
    public void restart() throws InterruptedException {
        stop();
        run(node(), required(place));
    }

    /**
     * Waits until devices are published.
     *
     * @param devices their names
     * @return the driver's slices: ResourceSlices as JSON texts
     */
    public List<String> awaitPublished(String... devices) {
        List<String> wanted = List.of(devices);
        return texts(publication()
                .await("Not published: " + wanted, slices -> names(slices).containsAll(wanted)));
    }

    /**
     * Waits until devices are no longer published.
     *
     * @param devices their names
     * @return the driver's slices: ResourceSlices as JSON texts
     */
    public List<String> awaitWithdrawn(String... devices) {
        List<String> unwanted = List.of(devices);
        return texts(publication()
                .await("Not withdrawn: " + unwanted, slices -> unwanted.stream().noneMatch(names(slices)::contains)));
    }

    /** {@return the driver's current slices: ResourceSlices as JSON texts} */
    public List<String> slices() {
        return texts(publication().slices());
    }

    private Publication publication() {
        return new Publication(node(), driverName, timeout);
    }

    private static List<String> texts(List<JsonNode> slices) {
        return slices.stream().map(JsonNode::toString).toList();
    }

    static List<String> names(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> slice.at("/spec/devices").valueStream())
                .map(device -> device.path("name").asText())
                .toList();
    }

    /**
     * Creates a claim of one request, and allocates devices to it once they are published.
     *
     * <p>The allocation has the form that the scheduler writes: the configurations of the device class, and a share if
     * several claims may have the device. Taints and devices of other claims are ignored; {@link #apply} lets the
     * scheduler decide.
     *
     * @param devices the names of the devices
     * @return the claim, which is not prepared
     */
    public KubeletClaim allocate(String... devices) {
        return create(AllocationWriter.claim(AllocatedClaims.REQUEST, driverName), devices);
    }

    /**
     * Creates a user's claim, and allocates devices to its first request once they are published, as {@link #allocate}
     * does, as the request specifies: amounts, admin access, tolerations.
     *
     * @param manifest a ResourceClaim of {@code resource.k8s.io/v1} as YAML or JSON; its metadata
     *     may be left out
     * @param devices the names of the devices; none if the manifest has an allocation
     * @return the claim, which is not prepared
     */
    public KubeletClaim allocateManifest(String manifest, String... devices) {
        return create(AllocatedClaims.object(manifest), devices);
    }

    private KubeletClaim create(ObjectNode claim, String... devices) {
        awaitPublished(devices);
        ObjectNode metadata = claim.withObject("/metadata");
        if (!metadata.has("namespace")) {
            metadata.put("namespace", "default");
        }
        if (!metadata.has("name")) {
            metadata.put("name", "claim-" + claims.incrementAndGet());
        }
        return devices.length == 0 ? node().create(claim) : node().allocate(driverName, claim, devices);
    }

    /**
     * Creates the objects of manifests, as {@code kubectl apply} does: DeviceClasses, templates,
     * claims, pods.
     *
     * <p>Pods are then placed and run as in a cluster: claims of templates are made, devices
     * allocated by the rules of the scheduler, claims prepared by the driver.
     *
     * @param manifests YAML or JSON, with any number of documents
     */
    public void apply(String manifests) {
        TestNode running = node();
        running.controllers();
        ManifestObjects.putText(manifests, running.api().store());
    }

    /**
     * Waits until a pod of {@link #apply} runs, which is when its claims are prepared.
     *
     * @param name the pod's name; {@code namespace/name} outside of the namespace {@code default}
     * @return the pod
     * @throws AssertionError if it does not run, with the reason
     */
    public RunningPod awaitRunning(String name) {
        return RunningPod.await(node(), name, timeout);
    }

    /**
     * Waits until the scheduler has found no place for a pod of {@link #apply}.
     *
     * @param name the pod's name; {@code namespace/name} outside of the namespace {@code default}
     * @return the scheduler's message, with each device that the pod's claims could not have, and why
     * @throws AssertionError if the pod is placed
     */
    public String awaitUnschedulable(String name) {
        String[] parts = RunningPod.parts(name);
        return node().controllers().awaitUnschedulable(parts[0], parts[1], timeout);
    }

    /**
     * Prepares a claim, as the kubelet does.
     *
     * @param claim the claim
     * @return what a container with all devices of the claim gets
     * @throws AssertionError if the driver refuses it
     */
    public ContainerView prepare(KubeletClaim claim) {
        CallResult result = prepared(claim);
        result.complaint().ifPresent(complaint -> {
            throw new AssertionError("Not prepared: " + complaint);
        });
        List<String> ids = result.results().values().stream()
                .flatMap(one -> one.devices().stream())
                .flatMap(device -> device.cdiDeviceIds().stream())
                .toList();
        return ContainerView.of(node().place().cdiDirectories(), ids);
    }

    /**
     * Prepares a claim that the driver has to refuse.
     *
     * @param claim the claim
     * @return the message for the pod's owner
     * @throws AssertionError if the driver prepares it
     */
    public String refusal(KubeletClaim claim) {
        ClaimResult result = prepared(claim).results().get(claim.uid());
        if (result == null || result.error().isEmpty()) {
            throw new AssertionError("Not refused: " + result);
        }
        return result.error();
    }

    /**
     * Unprepares a claim, as the kubelet does.
     *
     * @param claim the claim
     * @throws AssertionError if the driver can't
     */
    public void unprepare(KubeletClaim claim) {
        CallResult result = node().kubelet().unprepare(running(plugin), List.of(claim));
        result.complaint().ifPresent(complaint -> {
            throw new AssertionError("Not unprepared: " + complaint);
        });
    }

    private CallResult prepared(KubeletClaim claim) {
        return node().kubelet().prepare(running(plugin), List.of(claim));
    }

    /**
     * Unprepares a claim and deletes it, so that its devices are free for others.
     *
     * @param claim the claim
     * @throws AssertionError if the driver can't unprepare it
     */
    public void delete(KubeletClaim claim) {
        unprepare(claim);
        node().delete(claim);
    }

    /**
     * Waits until the status of a claim has the driver's report of a device.
     *
     * @param claim the claim
     * @param device the name of the device
     * @param wanted whether a report is the expected one: JSON text, an element of the claim's {@code
     *     status.devices}, with conditions and network data
     * @return the report
     */
    public String awaitStatus(KubeletClaim claim, String device, Predicate<String> wanted) {
        JsonNode object = node().api()
                .store()
                .awaitObject(
                        "resourceclaims",
                        one -> one.at("/metadata/uid").asText().equals(claim.uid())
                                && statuses(one, device).anyMatch(wanted),
                        timeout);
        return statuses(object, device).filter(wanted).findFirst().orElseThrow();
    }

    private Stream<String> statuses(JsonNode claim, String device) {
        return claim.at("/status/devices")
                .valueStream()
                .filter(one -> one.path("driver").asText().equals(driverName))
                .filter(one -> one.path("device").asText().equals(device))
                .map(JsonNode::toString);
    }

    /**
     * Waits until the driver has reported a given health of a device to the kubelet.
     *
     * @param device the name of the device
     * @param state the health
     * @return the message about it
     * @throws AssertionError if it does not, or the driver does not serve health
     * @throws InterruptedException if the thread was interrupted
     */
    public String awaitHealth(String device, HealthState state) throws InterruptedException {
        try (OpenHealthStream watch = node().kubelet().watchHealth(running(plugin))) {
            return watch.awaitAll(
                            all -> watch.end().isPresent()
                                    || health(all, device, state).isPresent(),
                            timeout)
                    .flatMap(all -> health(all, device, state))
                    .orElseThrow(() -> new AssertionError("%s is not reported as %s: %s"
                            .formatted(
                                    device,
                                    state,
                                    watch.end()
                                            .map(end ->
                                                    "the health stream ended (%s); healthService() of DraDriver.Builder serves it"
                                                            .formatted(end))
                                            .orElseGet(() -> "the reports were " + watch.reports()))));
        }
    }

    private static Optional<String> health(List<OpenHealthStream.Report> reports, String device, HealthState state) {
        return reports.stream()
                .flatMap(report -> report.devices().stream())
                .filter(one -> one.device().equals(device))
                .reduce((earlier, later) -> later)
                .filter(last -> last.state().equals(state.name()))
                .map(OpenHealthStream.Device::message);
    }
}
