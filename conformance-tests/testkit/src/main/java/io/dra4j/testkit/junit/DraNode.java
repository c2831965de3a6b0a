// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A node that runs one driver, with an API server and a kubelet of its own, registered with
 * {@code @RegisterExtension}.
 *
 * <p>In a static field it lives as long as the tests of the class, in an instance field as long as
 * one test. A test begins once the driver is registered with the kubelet. Test methods may have
 * parameters of the types {@link EmbeddedApiServer}, {@link FakeKubelet}, {@link Place}, {@link
 * Instance} and {@link DraNode}.
 */
public final class DraNode
        implements BeforeAllCallback,
                BeforeEachCallback,
                AfterEachCallback,
                AfterAllCallback,
                ParameterResolver {

    private static final String NAME = "node-1";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int TAIL = 2_000;
    private static final Set<Class<?>> PARAMETERS =
            Set.of(
                    DraNode.class,
                    EmbeddedApiServer.class,
                    FakeKubelet.class,
                    Place.class,
                    Instance.class);

    private record Running(
            EmbeddedApiServer server, Place place, FakeKubelet kubelet, Instance instance) {}

    private final String driver;
    private final DriverAdapter adapter;
    private final AtomicInteger claims = new AtomicInteger();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private Consumer<EmbeddedApiServer.Builder> settings = builder -> {};
    private @Nullable Running running;
    private String owner = "";

    private DraNode(String driver, DriverAdapter adapter) {
        this.driver = driver;
        this.adapter = adapter;
    }

    /** A node with a driver that an adapter starts. */
    public static DraNode of(String driver, DriverAdapter adapter) {
        return new DraNode(driver, adapter);
    }

    /** A node with a driver that a function starts in this JVM. */
    public static DraNode of(String driver, InProcessDriver.Starter starter) {
        return of(driver, new InProcessDriver(starter));
    }

    /**
     * A node with a driver that is a process.
     *
     * @param command the program and its arguments; {@code {NAME}} stands for a {@link
     *     Place#values() value of the place}, such as {@code {KUBECONFIG}}
     */
    public static DraNode ofProcess(String driver, String... command) {
        return of(driver, new ProcessDriver(List.of(command), Map.of(), LIMIT));
    }

    /** Changes the API server before each start, for example its Kubernetes version. */
    public DraNode withServer(Consumer<EmbeddedApiServer.Builder> change) {
        settings = settings.andThen(change);
        return this;
    }

    /** The API server. */
    public EmbeddedApiServer server() {
        return running().server();
    }

    /** The kubelet. */
    public FakeKubelet kubelet() {
        return running().kubelet();
    }

    /** The directories and names of the node. */
    public Place place() {
        return running().place();
    }

    private Running running() {
        Running now = running;
        if (now == null) {
            throw new IllegalStateException("The node runs during tests only");
        }
        return now;
    }

    /**
     * Creates a claim with one request for each device, allocated as by the scheduler.
     *
     * @param devices names of devices that the driver publishes, or will within 30 s
     */
    public KubeletClaim allocate(String... devices) {
        String name = "claim-" + claims.incrementAndGet();
        ObjectNode claim = JsonNodeFactory.instance.objectNode();
        claim.put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        claim.putObject("metadata").put("namespace", "default").put("name", name);
        ArrayNode requests = claim.withObject("/spec/devices").putArray("requests");
        ArrayNode results = claim.withObject("/status/allocation/devices").putArray("results");
        for (String device : devices) {
            String request = "request-" + requests.size();
            requests.addObject()
                    .put("name", request)
                    .putObject("exactly")
                    .put("deviceClassName", driver);
            results.addObject()
                    .put("request", request)
                    .put("driver", driver)
                    .put("pool", pool(device))
                    .put("device", device);
        }
        JsonNode stored = server().store().put(claim);
        return new KubeletClaim("default", name, stored.path("metadata").path("uid").asText());
    }

    private String pool(String device) {
        JsonNode slice =
                server().store()
                        .awaitObject("resourceslices", found -> publishes(found, device), LIMIT);
        return slice.path("spec").path("pool").path("name").asText();
    }

    private boolean publishes(JsonNode slice, String device) {
        JsonNode spec = slice.path("spec");
        return spec.path("driver").asText().equals(driver)
                && spec.path("devices").findValuesAsText("name").contains(device);
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
    public void afterEach(ExtensionContext context) throws Exception {
        stop(context);
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        stop(context);
    }

    /** Starts the node unless an outer class or the class of the test has. */
    private void start(ExtensionContext context) throws Exception {
        if (running != null) {
            return;
        }
        try {
            EmbeddedApiServer.Builder builder = EmbeddedApiServer.builder().node(NAME);
            settings.accept(builder);
            EmbeddedApiServer server = opened(builder.start());
            Place place = adapter.place(NAME, driver);
            resources.push(place::remove);
            server.writeKubeconfig(place.kubeconfig());
            FakeKubelet kubelet = opened(FakeKubelet.start(place.registry(), place::outside));
            Instance instance = adapter.start(place, Map.of());
            resources.push(() -> end(instance));
            if (!kubelet.awaitRegistered(driver, adapter.startTimeout())) {
                throw new DriverUnusable(
                        "The driver %s did not register within %d s%s"
                                .formatted(driver, adapter.startTimeout().toSeconds(), log(place)));
            }
            running = new Running(server, place, kubelet, instance);
            owner = context.getUniqueId();
        } finally {
            if (running == null) {
                closeAll();
            }
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        resources.push(resource);
        return resource;
    }

    private static void end(Instance instance) {
        instance.terminate();
        if (instance.awaitExit(LIMIT).isEmpty()) {
            instance.kill();
        }
    }

    private static String log(Place place) throws IOException {
        if (!Files.exists(place.log())) {
            return "";
        }
        String text = Files.readString(place.log()).strip();
        return "; its log ends with:\n" + text.substring(Math.max(0, text.length() - TAIL));
    }

    private void stop(ExtensionContext context) throws Exception {
        if (context.getUniqueId().equals(owner)) {
            running = null;
            owner = "";
            closeAll();
        }
    }

    private void closeAll() throws Exception {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return PARAMETERS.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Running now = running();
        return Stream.of(this, now.server(), now.kubelet(), now.place(), now.instance())
                .filter(parameter.getParameter().getType()::isInstance)
                .findFirst()
                .orElseThrow();
    }
}
