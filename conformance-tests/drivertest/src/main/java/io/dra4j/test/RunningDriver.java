// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.DeviceProvider;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

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
 * <p>Registered in a static field it lives as long as the tests of the class, in an instance field
 * as long as one test. A test begins once the kubelet has registered the driver. All waits end
 * after {@link TestNode#TIMEOUT} with an {@link AssertionError}, those for slices sooner if the
 * driver says that a pool is invalid.
 *
 * @param <P> the provider
 */
public final class RunningDriver<P extends DeviceProvider>
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    /** The name of the node. */
    public static final String NODE = TestNode.NAME;

    private final String driverName;
    private final Function<String, P> providers;
    private final AtomicInteger claims = new AtomicInteger();
    private Consumer<DraDriver.Builder> driverSettings = builder -> {};
    private Consumer<EmbeddedApiServer.Builder> serverSettings = builder -> {};
    private volatile @Nullable P provider;
    private volatile @Nullable TestNode node;
    private String owner = "";

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
     * Changes the driver before each start, to serve its health for example.
     *
     * @param change changes the builder
     * @return this extension
     */
    public RunningDriver<P> withDriver(Consumer<DraDriver.Builder> change) {
        driverSettings = driverSettings.andThen(change);
        return this;
    }

    /**
     * Changes the API server before it starts, its Kubernetes version for example.
     *
     * @param change changes the builder
     * @return this extension
     */
    public RunningDriver<P> withServer(Consumer<EmbeddedApiServer.Builder> change) {
        serverSettings = serverSettings.andThen(change);
        return this;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        start(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        start(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        stop(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop(context);
    }

    /** Starts the driver unless the class of the test, or an outer one, has. */
    private void start(ExtensionContext context) throws InterruptedException {
        if (node != null) {
            return;
        }
        EmbeddedApiServer.Builder server = EmbeddedApiServer.builder();
        serverSettings.accept(server);
        TestNode started = new TestNode(driverName, new InProcessDriver(this::run), server);
        try {
            started.start();
            started.awaitRegistered();
            node = started;
            owner = context.getUniqueId();
        } finally {
            if (node == null) {
                started.close();
            }
        }
    }

    private DraDriver run(Place place) {
        P made = providers.apply(place.node());
        provider = made;
        DraDriver.Builder builder = builder(place, made);
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

    private void stop(ExtensionContext context) {
        TestNode running = node;
        if (running != null && context.getUniqueId().equals(owner)) {
            node = null;
            running.close();
        }
    }

    /**
     * Returns the node, with all that the test kit can do: faults of the API server, for example.
     *
     * @return the node
     * @throws IllegalStateException if no test runs
     */
    public TestNode node() {
        return required(node);
    }

    /**
     * Returns the provider that runs.
     *
     * @return what was made for the last start
     * @throws IllegalStateException if no test runs
     */
    public P provider() {
        return required(provider);
    }

    private static <T> T required(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("The driver runs during tests only");
        }
        return value;
    }

    /**
     * Stops the driver and starts it again, with a new provider and the journal of the old one.
     *
     * @throws InterruptedException if the thread was interrupted
     */
    public void restart() throws InterruptedException {
        node().kill();
        if (!node().startRegistered()) {
            throw new AssertionError("The driver ended after its restart\n" + node().logTail());
        }
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

    /** {@return the driver's slices of this moment: ResourceSlices as JSON texts} */
    public List<String> slices() {
        return texts(publication().slices());
    }

    private Publication publication() {
        return new Publication(node(), driverName);
    }

    private static List<String> texts(List<JsonNode> slices) {
        return slices.stream().map(JsonNode::toString).toList();
    }

    static List<String> names(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> StreamSupport.stream(slice.at("/spec/devices").spliterator(), false))
                .map(device -> device.path("name").asText())
                .toList();
    }

    /**
     * Creates a claim of one request, and allocates devices to it once they are published; of one
     * that several claims may have, a share that takes what a scheduler gives a claim that asks for
     * no amount.
     *
     * @param devices the names of the devices
     * @return the claim, which is not prepared
     */
    public KubeletClaim allocate(String... devices) {
        return create(ClaimDraft.empty(driverName), devices);
    }

    /**
     * Creates a claim of a user's, and allocates devices to its first request once they are
     * published.
     *
     * @param manifest a ResourceClaim of {@code resource.k8s.io/v1} as YAML or JSON; its metadata
     *     may be left out
     * @param devices the names of the devices; none if the manifest has an allocation
     * @return the claim, which is not prepared
     */
    public KubeletClaim allocateManifest(String manifest, String... devices) {
        return create(ClaimDraft.of(manifest, driverName), devices);
    }

    private KubeletClaim create(ClaimDraft draft, String... devices) {
        awaitPublished(devices);
        for (String device : devices) {
            JsonNode slice = sliceWith(device);
            draft.device(draft.firstRequest(), slice.at("/spec/pool/name").asText(), published(slice, device));
        }
        ObjectNode metadata = draft.metadata();
        if (!metadata.has("namespace")) {
            metadata.put("namespace", "default");
        }
        if (!metadata.has("name")) {
            metadata.put("name", "claim-" + claims.incrementAndGet());
        }
        return node().create(draft.json());
    }

    private JsonNode sliceWith(String device) {
        return publication().slices().stream()
                .filter(slice -> names(List.of(slice)).contains(device))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Device " + device + " was withdrawn"));
    }

    private static JsonNode published(JsonNode slice, String device) {
        return slice.at("/spec/devices")
                .valueStream()
                .filter(one -> one.path("name").asText().equals(device))
                .findFirst()
                .orElseThrow();
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
     * @throws AssertionError if it does not run, with what stands in the way
     */
    public RunningPod awaitRunning(String name) {
        return awaitRunning(name, TestNode.TIMEOUT);
    }

    /**
     * The same with a limit of the test's own.
     *
     * @param name the pod's name; {@code namespace/name} outside of the namespace {@code default}
     * @param limit the longest wait
     * @return the pod
     * @throws AssertionError if it does not run, with what stands in the way
     */
    public RunningPod awaitRunning(String name, Duration limit) {
        return RunningPod.await(node(), name, limit);
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
        return node().controllers().awaitUnschedulable(parts[0], parts[1], TestNode.TIMEOUT);
    }

    /**
     * Prepares a claim, as the kubelet does.
     *
     * @param claim the claim
     * @return what a container gets that has all devices of the claim
     * @throws AssertionError if the driver refuses it
     */
    public ContainerView prepare(KubeletClaim claim) {
        CallResult result = node().prepare(claim);
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
        ClaimResult result = node().prepare(claim).results().get(claim.uid());
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
        node().unprepare(claim).complaint().ifPresent(complaint -> {
            throw new AssertionError("Not unprepared: " + complaint);
        });
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
}
