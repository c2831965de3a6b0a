// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.controllers.AllocationWriter;
import io.dra4j.testkit.controllers.Controllers;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.http.HttpPages;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node with an API server behind a fault proxy, a kubelet, and processes of one driver.
 *
 * <pre>{@code
 * @AutoClose TestNode node = new TestNode("gpu.example.com", List.of("./my-driver"));
 *
 * node.start();
 * node.awaitRegistered();
 * CallResult result = node.prepare(node.allocate("claim", "gpu-0"));
 * }</pre>
 *
 * <p>A process finds its node in its environment ({@link Place#values()}); its command may have the same names in
 * braces. All waits end after {@link #TIMEOUT} with an {@link AssertionError}.
 */
public final class TestNode implements AutoCloseable {

    /** The node's name. */
    public static final String NAME = "node-1";

    /** The longest wait. */
    public static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final List<String> command;
    private final @Nullable DriverAdapter adapter;
    private final Place place;
    private final Opened opened = new Opened();
    private final EmbeddedApiServer api;
    private final ApiProxy proxy;
    private final FakeKubelet kubelet;
    private final AllocationWriter allocations;
    private final Map<String, String> environment = new HashMap<>();
    private final List<Instance> instances = new ArrayList<>();
    private @Nullable Controllers controllers; // guarded by this

    /** Prepares a node for a driver that is a process, which is not started yet. */
    public TestNode(String driver, List<String> command) {
        this(Place.create(NAME, driver), EmbeddedApiServer.builder(), command, null);
    }

    /** Prepares a node for a driver that an adapter starts, without options. */
    public TestNode(String driver, DriverAdapter adapter, EmbeddedApiServer.Builder server) {
        this(adapter.place(NAME, driver), server, List.of(), adapter);
    }

    /**
     * Returns the command that starts a driver with an archive of the classes that it needs to serve a claim for the
     * device {@code gpu-0}; the archive is made if needed.
     */
    public static List<String> archived(String driver, JavaProgram program) throws IOException, InterruptedException {
        return program.archived(command -> {
            try (TestNode node = new TestNode(driver, command)) {
                node.start();
                node.awaitRegistered();
                KubeletClaim claim = node.allocate("claim", "gpu-0");
                node.prepare(claim);
                node.unprepare(claim);
                node.awaitSlices(slices -> !slices.isEmpty());
                node.terminate();
            }
        });
    }

    private TestNode(
            Place place, EmbeddedApiServer.Builder server, List<String> command, @Nullable DriverAdapter adapter) {
        this.command = List.copyOf(command);
        this.adapter = adapter;
        this.place = place;
        opened.onEnd(place::remove);
        boolean opening = true;
        try {
            api = opened.open(() -> server.node(NAME).start(), EmbeddedApiServer::close);
            proxy = opened.open(() -> ApiProxy.before(api.url()), ApiProxy::close);
            proxy.writeKubeconfig(place.kubeconfig(), place.serviceAccount(), "default");
            kubelet = opened.open(() -> kubelet(place, api), FakeKubelet::close);
            opening = false;
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write " + place.kubeconfig(), e);
        } finally {
            if (opening) {
                opened.close();
            }
        }
        allocations = new AllocationWriter(
                name -> api.store().find("deviceclasses", "", name), api.featureGates(), InstantSource.system());
    }

    private static FakeKubelet kubelet(Place place, EmbeddedApiServer api) {
        return place.kubelet(api.version().minor())
                .claims(claim -> api.store().find("resourceclaims", claim.namespace(), claim.name()))
                .start();
    }

    /** Returns the directories of the node. */
    public Place place() {
        return place;
    }

    /** Returns the API server. */
    public EmbeddedApiServer api() {
        return api;
    }

    /** Returns the proxy through which the driver reaches the API server. */
    public ApiProxy proxy() {
        return proxy;
    }

    /** Returns the kubelet. */
    public FakeKubelet kubelet() {
        return kubelet;
    }

    /**
     * Returns the controllers that place pods on the node and prepare their claims; they start with the first call.
     */
    public synchronized Controllers controllers() {
        Controllers running = controllers;
        if (running == null) {
            running =
                    opened.open(() -> Controllers.of(api).kubelet(NAME, kubelet).start(), Controllers::close);
            controllers = running;
        }
        return running;
    }

    /** Returns variables for the environment of later processes; may be changed. */
    public Map<String, String> environment() {
        return environment;
    }

    /** Starts another process; the node's methods are about the newest. */
    public Instance start(String... options) {
        List<String> words = new ArrayList<>(command);
        words.addAll(Arrays.asList(options));
        DriverAdapter driver = adapter == null ? new ProcessDriver(words, environment, TIMEOUT) : adapter;
        return start(driver, place);
    }

    private Instance start(DriverAdapter driver, Place where) {
        Instance started = driver.start(where, Map.of());
        opened.onEnd(started::end);
        instances.add(started);
        return started;
    }

    /**
     * Starts a process, and waits until the kubelet has registered it.
     *
     * @return whether it is registered; if not, it has ended
     */
    public boolean startRegistered(String... options) throws InterruptedException {
        int before = kubelet.events().size();
        return isRegistered(start(options), place.driver(), before, TIMEOUT);
    }

    /**
     * Starts another driver, or one more instance, and waits until the kubelet has registered it.
     *
     * @param where a place of this node
     * @param limit the longest wait
     */
    public Instance startRegistered(DriverAdapter driver, Place where, Duration limit) throws InterruptedException {
        int before = kubelet.events().size();
        Instance started = start(driver, where);
        if (!isRegistered(started, where.driver(), before, limit)) {
            throw notRegistered();
        }
        return started;
    }

    private boolean isRegistered(Instance started, String driver, int before, Duration limit)
            throws InterruptedException {
        boolean registered = kubelet.awaitRegistered(driver, before, started::isAlive, limit);
        if (!registered && started.isAlive()) {
            throw notRegistered();
        }
        return registered;
    }

    /** Waits until the kubelet has registered the driver. */
    public void awaitRegistered() throws InterruptedException {
        if (!kubelet.awaitRegistered(place.driver(), TIMEOUT)) {
            throw notRegistered();
        }
    }

    private AssertionError notRegistered() {
        return new AssertionError("Not registered: " + kubelet.events() + "\n" + logTail());
    }

    /** Kills the newest process, as a crash does. */
    public void kill() {
        newest().kill();
    }

    /** Ends the newest process, as the termination of its pod does, and returns its exit status. */
    public int terminate() {
        newest().terminate();
        return awaitExit();
    }

    /** Waits for the end of the newest process, and returns its exit status. */
    public int awaitExit() {
        OptionalInt status = newest().awaitExit(TIMEOUT);
        if (status.isEmpty()) {
            throw new AssertionError("The driver did not end\n" + logTail());
        }
        return status.getAsInt();
    }

    private Instance newest() {
        return instances.get(instances.size() - 1);
    }

    /** Waits until the cluster's slices satisfy a condition, and returns them. */
    public List<JsonNode> awaitSlices(Predicate<List<JsonNode>> condition) {
        return awaitSlices(condition, TIMEOUT);
    }

    /** The same with a limit of the test's own. */
    public List<JsonNode> awaitSlices(Predicate<List<JsonNode>> condition, Duration limit) {
        try {
            return api.store().await("resourceslices", condition, limit);
        } catch (AssertionError e) {
            throw new AssertionError(proxy.log() + "\n" + logTail(), e);
        }
    }

    /** Creates a claim with allocated devices, from the published pools or else the node's. */
    public KubeletClaim allocate(String name, String... devices) {
        ObjectNode claim = AllocationWriter.claim("gpu", place.driver());
        claim.putObject("metadata").put("namespace", "default").put("name", name);
        return allocate(place.driver(), claim, devices);
    }

    /**
     * Creates a claim whose first request has devices of a driver allocated, in the form that the
     * scheduler writes: selectors, taints and devices of other claims are ignored.
     */
    public KubeletClaim allocate(String driver, ObjectNode claim, String... devices) {
        String request = AllocationWriter.firstRequest(claim);
        List<ObjectNode> results = Stream.of(devices)
                .map(device -> allocations.chosen(claim, request, slice(driver, device), device))
                .toList();
        claim.withObject("/status").set("allocation", allocations.of(claim, results, NodeSelector.ofNode(NAME)));
        return create(claim);
    }

    /** Creates a claim; if it is allocated, it is reserved for a pod of the node that exists only for this. */
    public KubeletClaim create(ObjectNode claim) {
        ObjectNode metadata = claim.withObject("/metadata");
        String namespace = metadata.path("namespace").asText();
        String name = metadata.path("name").asText();
        if (claim.at("/status/allocation").isObject() && !claim.path("status").has("reservedFor")) {
            claim.withArray("/status/reservedFor")
                    .addObject()
                    .put("resource", "pods")
                    .put("name", podOf(name))
                    .put("uid", createPod(namespace, podOf(name)));
        }
        JsonNode created = api.store().put(claim);
        return new KubeletClaim(namespace, name, created.at("/metadata/uid").asText());
    }

    /** Creates a running pod without claims, and returns its UID. */
    private String createPod(String namespace, String name) {
        ObjectNode pod =
                JsonNodeFactory.instance.objectNode().put("apiVersion", "v1").put("kind", "Pod");
        pod.putObject("metadata").put("namespace", namespace).put("name", name);
        pod.putObject("spec").put("nodeName", NAME);
        pod.putObject("status").put("phase", "Running");
        return api.store().put(pod).at("/metadata/uid").asText();
    }

    private static String podOf(String claim) {
        return "pod-of-" + claim;
    }

    /** Returns the slice that has a device; if none has, a device of the node's pool with only a name. */
    private JsonNode slice(String driver, String device) {
        Stream<JsonNode> own = api.store().list("resourceslices").stream()
                .filter(slice -> slice.at("/spec/driver").asText().equals(driver));
        return AllocationWriter.sliceWith(device, own).orElseGet(() -> unpublished(driver, device));
    }

    private static JsonNode unpublished(String driver, String device) {
        ObjectNode slice = JsonNodeFactory.instance.objectNode();
        ObjectNode spec = slice.putObject("spec").put("driver", driver);
        spec.putObject("pool").put("name", NAME);
        spec.putArray("devices").addObject().put("name", device);
        return slice;
    }

    /** Deletes the claim from the API server; the kubelet does not unprepare it. */
    public void delete(KubeletClaim claim) {
        api.store().delete("resourceclaims", claim.namespace(), claim.name());
        api.store().delete("pods", claim.namespace(), podOf(claim.name()));
    }

    /** Prepares claims in one call of the kubelet. */
    public CallResult prepare(KubeletClaim... claims) {
        return kubelet.prepare(place.driver(), Arrays.asList(claims));
    }

    /** Unprepares claims in one call of the kubelet. */
    public CallResult unprepare(KubeletClaim... claims) {
        return kubelet.unprepare(place.driver(), Arrays.asList(claims));
    }

    /** Returns the names of the files in the CDI directory. */
    public List<String> specs() throws IOException {
        try (Stream<Path> files = Files.list(place.cdi())) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** Returns the pages that a driver serves at the free port of the node. */
    public HttpPages pages() {
        return HttpPages.at(place.freePort());
    }

    /** Returns what all processes have logged. */
    public String log() {
        try {
            return Files.readString(place.log());
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    /** Returns the end of the log, for messages. */
    public String logTail() {
        String log = log();
        return log.substring(Math.max(0, log.length() - 3000));
    }

    /** Kills all processes, ends the parts of the node, and removes its directories. */
    @Override
    public void close() {
        opened.close();
    }
}
