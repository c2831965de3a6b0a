// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.claims.Allotments;
import io.dra4j.conformance.claims.ClaimTemplates;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.NriRuntime;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node around one driver, on which rules are checked one after another.
 *
 * <p>Rules do everything through it: they call the driver through {@link #calls}, make claims with {@link #claims}, and
 * start, stop and kill it through {@link #driver}. {@link #tidy} cleans up after a rule. For one thread at a time,
 * unless stated otherwise.
 */
public final class TestContext implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TestContext.class);
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Duration TELLS = Duration.ofSeconds(2);

    private final Settings settings;
    private final Place place;
    private final ApiServer api;
    private FakeKubelet kubelet;
    private final DriverControl driver;
    private final Transcript transcript = new Transcript();
    private final Calls calls;
    private final Claims claims;
    private final CdiView cdi;
    private final Devices devices;
    private final Timeouts timeouts;
    private final Random random;
    private Set<String> detected = Set.of();
    private final List<Injection> faults = new ArrayList<>();
    private String remark = "";
    private final Measurements measurements = new Measurements();
    private final Hooks hooks;
    private final Consumer<String> notes;
    private final Map<Class<?>, Object> shared = new HashMap<>();
    private @Nullable Unpublished unpublished;
    private final Opened opened;
    private volatile boolean closed;

    private TestContext(
            Settings settings,
            DriverAdapter adapter,
            Place place,
            ApiServer api,
            ClaimTemplates templates,
            Consumer<String> notes,
            Opened opened) {
        this.notes = notes;
        this.opened = opened;
        this.settings = settings;
        this.place = place;
        this.api = api;
        if (settings.driver().nri()) {
            opened.open(() -> NriRuntime.at(place.nriSocket()), NriRuntime::close);
        }
        kubelet = startKubelet();
        opened.onEnd(() -> kubelet.close());
        timeouts = new Timeouts(settings.timeoutFactor());
        driver = new DriverControl(adapter, place, this::kubelet, timeouts, transcript, measurements);
        opened.onEnd(driver::close);
        cdi = new CdiView(place.cdi(), place.cdiDirectories(), text -> adapter.runsAnywhere() || calls().isAbout(text));
        Allotments shaped = templates.isEmpty() ? null : new Allotments(templates, api.minor());
        devices = new Devices(place, api.cluster(), shaped, settings.driver().hasNoDevices());
        claims = new Claims(place.driver(), api.cluster(), devices, api.namespace());
        calls = new Calls(place.driver(), claims, cdi, this::kubelet, transcript, measurements);
        hooks = new Hooks(settings.driver().hooks(), place, transcript);
        random = new Random(settings.seed());
        if (!adapter.runsAnywhere()) {
            opened.onEnd(() -> tidy().forEach(notes)); // the driver keeps the claims of a rule that was interrupted
        }
    }

    /** Sets up a node, whose name has lower case letters and digits; the driver is not started yet. */
    public static TestContext open(Settings settings, DriverAdapter adapter, String name) {
        return open(settings, adapter, name, LOG::warn);
    }

    /** Sets up a node, whose driver has the rights of the settings. */
    public static TestContext open(Settings settings, DriverAdapter adapter, String name, Consumer<String> notes) {
        return open(settings, adapter, settings.access(), name, notes);
    }

    /**
     * Sets up a node; the driver is not started yet.
     *
     * @param access what the driver may ask the API server for; empty for everything
     * @param name distinguishes it from other test contexts of the run; lower case letters and digits
     * @param notes gets a sentence for each thing that could not be removed in the end
     * @throws io.dra4j.testkit.settings.SettingsException if the settings cannot be used
     */
    public static TestContext open(
            Settings settings,
            DriverAdapter adapter,
            Optional<ServiceAccountAccess> access,
            String name,
            Consumer<String> notes) {
        ClaimTemplates templates = ClaimTemplates.read(
                settings.driver().claims(), settings.driver().name());
        templates.notes().forEach(notes);
        String node = ApiServer.uniqueName(settings.apiServer(), name);
        Opened opened = new Opened();
        return Opened.orEnd(() -> end(opened, notes), () -> {
            Place place = opened.open(
                    () -> adapter.place(node, settings.driver().name()),
                    one -> one.remove().ifPresent(notes));
            ApiServer api = opened.open(
                    () -> ApiServer.start(settings, access, place.node(), node),
                    one -> one.end().forEach(notes));
            Place entered = connected(place, api, settings, adapter);
            return new TestContext(settings, adapter, entered, api, templates, notes, opened);
        });
    }

    /** A driver that runs externally has the port of the settings, and may not find any other file. */
    private static Place connected(Place place, ApiServer api, Settings settings, DriverAdapter adapter) {
        try {
            if (!adapter.runsAnywhere()) {
                api.proxy().writeKubeconfig(place.kubeconfig());
                return place;
            }
            String named = settings.apiServer().serviceAccount();
            String namespace = named.isEmpty() ? api.namespace() : named.split("/")[0];
            int port = api.proxy().writeKubeconfig(place.kubeconfig(), place.serviceAccount(), namespace);
            Place entered = settings.driver().nri() ? place.withNri() : place;
            return place.isInCluster() ? entered.withSecurePort(port) : entered;
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write " + place.kubeconfig(), e);
        }
    }

    /** Cleans up a test context that cannot be set up, or has ended. */
    private static void end(Opened opened, Consumer<String> notes) {
        opened.end().forEach(failure -> notes.accept(String.valueOf(failure.getMessage())));
    }

    public Settings settings() {
        return settings;
    }

    public Place place() {
        return place;
    }

    public DriverControl driver() {
        return driver;
    }

    /** The kubelet of the node; the newest, if there were several. */
    public FakeKubelet kubelet() {
        return kubelet;
    }

    private FakeKubelet startKubelet() {
        return place.kubelet(api.minor()).outside(path -> driver.outside(path)).start();
    }

    /** Ends the kubelet and starts a new one, which has to register the driver. */
    public void restartKubelet() throws InterruptedException {
        kubelet.close();
        kubelet = startKubelet();
        Measurements.Wait wait = measurements.begin("time until a new kubelet registered the driver", timeouts.soon());
        Violation.unless(wait.end(kubelet.awaitRegistered(place.driver(), timeouts.soon())))
                .because("a new kubelet could not register the driver: %s", kubelet.events());
    }

    /** The release of the API server and the kubelet: the number after "1.". */
    public int release() {
        return api.minor();
    }

    /** The API server, for reports; the gates of a real one are read from it. */
    public KubernetesServer kubernetes() {
        return api.kubernetes();
    }

    /** The objects of the API server, for changes that no request can make; empty for a real one. */
    public Optional<ClusterObjects> store() {
        return api.store();
    }

    public Calls calls() {
        return calls;
    }

    public Claims claims() {
        return claims;
    }

    public KubeletClaim preparedClaim(PublishedDevice... some) {
        KubeletClaim claim = claims.allocate(some);
        calls.prepared(claim);
        return claim;
    }

    /** Makes a claim with a device that must be prepared and unprepared, and does both. */
    public KubeletClaim unpreparedClaim(PublishedDevice device) {
        KubeletClaim claim = preparedClaim(device);
        calls.unprepared(claim);
        return claim;
    }

    /** Prepares and unprepares a claim with a device, if claims can have one; it may fail. */
    public void attemptClaim() {
        devices.usable().stream().findFirst().map(claims::allocate).ifPresent(claim -> {
            calls.prepare(claim);
            calls.unprepare(claim);
        });
    }

    public CdiView cdi() {
        return cdi;
    }

    public Devices devices() {
        return devices;
    }

    /**
     * Waits until the driver has published a complete pool, and returns whether it has. Returns immediately if it is
     * known that the driver publishes nothing, or if it has ended.
     */
    public boolean awaitPools() {
        boolean mayCome = unpublished == null && !settings.driver().hasNoDevices();
        return awaitPools(mayCome ? timeouts.repair() : Duration.ZERO);
    }

    public boolean awaitPools(Duration timeout) {
        return awaitPools(timeout, () -> !devices.pools().isEmpty());
    }

    /** Waits until the pools meet a condition, which is tested after answers to the driver; false if it has ended. */
    public boolean awaitPools(Duration timeout, BooleanSupplier wanted) {
        long end = System.nanoTime() + timeout.toNanos();
        long seen = answered(proxy().requests());
        while (!wanted.getAsBoolean()) {
            if (System.nanoTime() > end || !driver.isAlive()) {
                return false;
            }
            long before = seen;
            requested(LOOK, all -> answered(all) > before);
            seen = answered(proxy().requests());
        }
        return true;
    }

    private static long answered(List<RecordedRequest> requests) {
        return requests.stream().filter(request -> request.status() != 0).count();
    }

    public boolean requested(Duration time, Predicate<List<RecordedRequest>> wanted) {
        try {
            proxy().awaitAll(time, wanted);
            return true;
        } catch (AssertionError e) {
            return false; // the condition was not met in time
        }
    }

    /** Returns whether a request of the driver comes, or came, within a time. */
    public boolean isRequested(Duration time, Predicate<RecordedRequest> wanted) {
        return requested(time, all -> all.stream().anyMatch(wanted));
    }

    /** Returns whether a request of the driver is, or was, answered within a time: before that, it changes nothing. */
    public boolean isAnswered(Duration time, Predicate<RecordedRequest> wanted) {
        return isRequested(time, wanted.and(request -> request.status() != 0));
    }

    /** Gives the driver its start time to publish a complete pool; returns its state then if it has not. */
    public Optional<Unpublished> awaitPublished() {
        long begin = System.nanoTime();
        if (awaitPools()) {
            return Optional.empty();
        }
        Duration waited = Duration.ofNanos(System.nanoTime() - begin);
        ProcessSettings process = settings.driver().process();
        String access = process != null && process.inCluster()
                ? "does it use the service account of its pod?"
                : "is it started with the kubeconfig %s, or does it need driver.process.inCluster?"
                        .formatted(place.kubeconfig());
        return Optional.of(Unpublished.of(devices, driver, api, access, waited));
    }

    /** Records that a wait for the driver's pools has timed out, on this test context or another. */
    public void knows(Unpublished found) {
        unpublished = found;
    }

    /** Returns the state of the driver after a wait for its pools timed out; empty if none has. */
    public Optional<Unpublished> unpublished() {
        return Optional.ofNullable(unpublished);
    }

    /** Waits briefly for what a driver without devices reports in its log and in Events. */
    public List<String> warnings() {
        isAnswered(timeouts.times(TELLS), r -> r.write() && r.path().contains("/events"));
        return Unpublished.warnings(driver, cluster(), place.node());
    }

    /** Adds a sentence about the run as a whole to the report. */
    public void note(String sentence) {
        notes.accept(sentence);
    }

    /** The API server's objects, not through the proxy. */
    public ApiObjects cluster() {
        return api.cluster();
    }

    /** An object with the label by which those of a killed run can be found. */
    public static ObjectNode labelled(String kind, String name) {
        return ApiServer.labelled(kind, name);
    }

    public ApiProxy proxy() {
        return api.proxy();
    }

    /** Applies a fault to the driver's requests until it is removed, or the rule ends. */
    public Injection inject(Fault fault) {
        Injection injection = proxy().inject(fault);
        faults.add(injection);
        return injection;
    }

    public Hooks hooks() {
        return hooks;
    }

    /** Runs a hook, which another undoes: see {@link #change}. */
    public Opened hook(String name, String undo) {
        return change(() -> hooks.run(name), () -> hooks.run(undo));
    }

    /**
     * Makes a change to something that outlives the run. It is undone once, even if only a part of it was made: when the
     * result is closed, or else before the end of this test context.
     */
    public Opened change(Change change, Change undo) {
        return opened.change(change, undo);
    }

    public interface Change extends Runnable {
        void make() throws IOException;

        @Override
        default void run() {
            try {
                make();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Something that several rules of this test context wait for together: it is made for the
     * first, and found by the others, which compare it with their own limits.
     */
    public <T, E extends Exception> T shared(Class<T> type, Made<T, E> made) throws E {
        if (!shared.containsKey(type)) {
            shared.put(type, made.get());
        }
        return type.cast(shared.get(type));
    }

    public interface Made<T, E extends Exception> {
        T get() throws E;
    }

    /** Sets the capabilities that the run has found, by the labels of the gates. */
    public void detected(Set<String> gates) {
        detected = Set.copyOf(gates);
    }

    public Set<String> detected() {
        return detected;
    }

    /** Adds a remark about a requirement that holds, for the report. */
    public void remark(String words) {
        remark = words;
    }

    /** Returns and removes the remarks, and the refusals, since the last call; empty if there are none. */
    public String takeRemark() {
        String refusals = calls.takeRefusals();
        String words = remark + (remark.isEmpty() || refusals.isEmpty() ? "" : "; ") + refusals;
        remark = "";
        return words;
    }

    public Measurements measurements() {
        return measurements;
    }

    public Timeouts timeouts() {
        return timeouts;
    }

    /** Returns the source of randomness; the same for the same seed. */
    public Random random() {
        return random;
    }

    public Transcript transcript() {
        return transcript;
    }

    /** Clears away faults and claims of a rule; returns what could not be: the test context is unusable then. */
    public List<String> tidy() {
        faults.forEach(Injection::close);
        faults.clear();
        List<String> failures = new ArrayList<>();
        for (KubeletClaim claim : claims.takeMade()) {
            try {
                calls.unprepare(claim).complaint().ifPresent(failures::add);
                claims.deleteObject(claim);
            } catch (IllegalStateException | ApiRequestException | UncheckedIOException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
        }
        return failures;
    }

    /** A moment from which on evidence is collected: the number of calls, the latest request, the log's length. */
    public record Mark(int calls, int request, long log) {}

    public Mark mark() {
        return new Mark(
                transcript.size(), proxy().lastNumber(), place.log().toFile().length());
    }

    public List<String> callsSince(Mark mark) {
        return transcript.since(mark.calls());
    }

    public String logSince(Mark mark) {
        return place.logSince(mark.log());
    }

    /** The CDI directory now. */
    public String files() {
        StringBuilder text = new StringBuilder();
        cdi.files().forEach((name, content) -> text.append(name + ": " + content + '\n'));
        return text.toString();
    }

    /** Returns whether a {@link #close} has completed. */
    public boolean isClosed() {
        return closed;
    }

    /** Ends the driver, and removes what was made for it; leftovers are noted. Idempotent, and for any thread. */
    @Override
    public synchronized void close() {
        end(opened, notes);
        closed = true;
    }
}
