// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.context.Refusals;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.play.PlayedKubelet.PlayedClaim;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.controllers.Controllers;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The steps of a play, in their order; each throws {@link StepFailed} where it does not hold.
 *
 * <p>Not thread-safe.
 */
final class Script {
    private final PlaySettings settings;
    private final Cast cast;
    private final Narrator narrator;
    private final Slices slices;

    private List<JsonNode> published = List.of();
    private Set<String> common = Set.of();
    private List<PlayedPod> pods = List.of();
    private final Map<PlayedClaim, List<PreparedDevice>> prepared = new LinkedHashMap<>();

    Script(PlaySettings settings, Cast cast, Narrator narrator) {
        this.settings = settings;
        this.cast = cast;
        this.narrator = narrator;
        this.slices = new Slices(cast.api(), cast.proxy(), settings.driverNames());
    }

    /** The drivers of the play, at a place whose directories they share. */
    record Cast(
            Place place,
            Path kubeconfig,
            EmbeddedApiServer api,
            ApiProxy proxy,
            PlayedKubelet kubelet,
            Controllers controllers,
            List<DriverProcess> drivers) {

        CdiView cdi() {
            return new CdiView(place.cdi(), place.cdiDirectories());
        }
    }

    /** Starts the drivers and creates the claims. */
    void open() {
        narrator.text(KubernetesServer.embedded(settings.gates()).text() + "\n");
        awaitRegistrations(phrase("The driver starts and registers", "The drivers start and register"));
        narrator.step(phrase("It publishes its devices", "They publish their devices"));
        published = cast.drivers().get(0).await(() -> slices.awaitComplete(settings.stepTimeout()));
        narrator.lines(1, slices.lines());
        common = cast.cdi().files().keySet();
        apply("The manifests of " + settings.manifests() + " are applied");
    }

    private void apply(String title) {
        narrator.step(title);
        pods = ManifestObjects.put(
                        List.of(settings.manifests().toString()), cast.api().store())
                .stream()
                .filter(object -> object.path("kind").asText().equals("Pod"))
                .map(PlayedPod::new)
                .toList();
        StepFailed.unless(!pods.isEmpty(), "no manifest in " + settings.manifests() + " contains a Pod");
        pods.forEach(pod -> narrator.line(1, "pod " + pod.name()));
    }

    /** Plays the lifecycle of the claims to its end. */
    void play() {
        pods.forEach(this::run);
        crash();
        prepareAgain();
        delete();
        stop();
        cast.drivers().forEach(DriverProcess::restart);
        awaitRegistrations(phrase("It is started once more", "They are started again"));
        reuse();
        delete();
        stop();
    }

    private String phrase(String ofOne, String ofSeveral) {
        return cast.drivers().size() == 1 ? ofOne : ofSeveral;
    }

    /** Prints commands that show the cluster's objects. */
    void invite() {
        narrator.step("Now it is your turn");
        narrator.lines(
                1,
                List.of(
                        "export KUBECONFIG=" + cast.kubeconfig(),
                        "kubectl get resourceslices -o yaml",
                        "kubectl get pods,resourceclaims -A",
                        "kubectl apply -f FILE    # pods with claims, as for a cluster",
                        "kubectl get resourceslices --watch",
                        ""));
        for (DriverProcess driver : cast.drivers()) {
            narrator.line(1, "the output of " + driver.name() + ": " + driver.log());
        }
        narrator.line(1, "Ctrl-C ends everything.");
    }

    private void awaitRegistrations(String title) {
        narrator.step(title);
        long begin = System.nanoTime();
        for (DriverProcess driver : cast.drivers()) {
            PluginInfo info = cast.kubelet().awaitRegistration(driver, settings.stepTimeout());
            long millis = Duration.ofNanos(System.nanoTime() - begin).toMillis();
            narrator.line(1, "process " + driver.pid() + " registered after " + millis + " ms");
            narrator.line(1, info.name() + " speaks " + info.versions() + " on " + info.endpoint());
            String time = cast.kubelet().answerTime(driver.name());
            narrator.line(1, "GetInfo: answered " + time + " (since the socket appeared)");
        }
    }

    private void run(PlayedPod applied) {
        narrator.step("Pod " + applied.name() + " gets its devices, and runs");
        PlayedPod pod = running(applied);
        narrator.line(1, "node " + pod.node());
        for (PlayedClaim claim : claims(pod)) {
            show(claim);
        }
        for (String container : pod.containers()) {
            narrator.line(1, "container " + container);
            List<String> ids = cast.controllers().cdiDevices(pod.object(), container);
            narrator.lines(2, GatheredEdits.of(cast.cdi(), ids).lines());
        }
    }

    private PlayedPod running(PlayedPod pod) {
        return new PlayedPod(cast.kubelet()
                .await(() -> cast.controllers().awaitRunning(pod.namespace(), pod.name(), settings.stepTimeout())));
    }

    private List<PlayedClaim> claims(PlayedPod pod) {
        return cast.controllers().claims(pod.object()).stream()
                .map(PlayedClaim::of)
                .toList();
    }

    private void show(PlayedClaim claim) {
        List<PreparedDevice> devices = cast.controllers().prepared(claim.id().uid());
        cast.kubelet().check(claim, devices);
        prepared.put(claim, devices);
        narrator.line(1, "claim " + claim + " (" + claim.id().uid() + ")");
        for (PreparedDevice device : devices) {
            narrator.line(2, PlayedKubelet.path(device) + " for " + device.requests() + " as " + device.cdiDeviceIds());
        }
    }

    private void crash() {
        narrator.step(phrase("The driver is killed with SIGKILL", "The drivers are killed with SIGKILL"));
        for (DriverProcess driver : cast.drivers()) {
            long killed = driver.pid();
            driver.kill();
            narrator.line(1, "process " + killed + " is gone; the driver was not notified before");
        }
        cast.drivers().forEach(DriverProcess::restart);
        awaitRegistrations(phrase("It is started again", "They are started again"));
    }

    private void prepareAgain() {
        narrator.step("Every claim is prepared again, and gets the same answer");
        prepared.forEach((claim, before) -> {
            List<PreparedDevice> now = cast.kubelet().prepare(claim);
            StepFailed.unless(
                    now.equals(before), "claim %s got %s, but %s before the crash".formatted(claim, now, before));
            narrator.line(1, "claim " + claim + ": the same " + before.size() + " devices");
        });
    }

    private void delete() {
        narrator.step("The pods are deleted, and their claims unprepared");
        for (PlayedPod pod : pods) {
            cast.api().store().delete("pods", pod.namespace(), pod.name());
            narrator.line(1, "pod " + pod.name());
        }
        cast.kubelet()
                .await(() -> cast.api()
                        .store()
                        .await(
                                "resourceclaims",
                                claims -> claims.stream().noneMatch(this::isHeld),
                                settings.stepTimeout()));
        prepared.clear();
        Set<String> left = specs();
        StepFailed.unless(left.isEmpty(), "files are left in the CDI folder: " + left);
        narrator.line(1, "no CDI spec is left");
    }

    /** The files of claims in the CDI folder: not those that the drivers made before there was one. */
    private Set<String> specs() {
        Set<String> specs = cast.cdi().files().keySet();
        specs.removeAll(common);
        return specs;
    }

    /** A claim that is allocated, or will be deleted because its pod is gone. */
    private boolean isHeld(JsonNode object) {
        PlayedClaim claim = PlayedClaim.of(object);
        return claim.isOfTemplate() || object.at("/status/allocation").isObject();
    }

    private void stop() {
        narrator.step(phrase("The driver is stopped with SIGTERM", "The drivers are stopped with SIGTERM"));
        for (DriverProcess driver : cast.drivers()) {
            int status = driver.stop(settings.stepTimeout());
            StepFailed.unless(status == 0, driver.name() + " ended with " + status + ", not 0");
        }
        List<Path> sockets = sockets();
        StepFailed.unless(sockets.isEmpty(), "sockets are left: " + sockets);
        Set<String> specs = specs();
        StepFailed.unless(specs.isEmpty(), "CDI specs are left: " + specs);
        StepFailed.unless(published.equals(slices.objects()), "the slices changed, although the devices are the same");
        narrator.line(1, "exit status 0; no socket and no CDI spec is left");
        narrator.line(1, "the slices remain, and were not written again");
    }

    private List<Path> sockets() {
        List<Path> sockets = new ArrayList<>();
        for (Path folder : List.of(cast.place().plugins(), cast.place().registry())) {
            try (Stream<Path> all = Files.walk(folder)) {
                all.filter(file -> file.toString().endsWith(".sock")).forEach(sockets::add);
            } catch (IOException e) {
                throw new UncheckedIOException("Can't list " + folder, e);
            }
        }
        return sockets;
    }

    private void reuse() {
        apply("The same pods are created again");
        for (PlayedPod applied : pods) {
            PlayedPod pod = running(applied);
            narrator.line(1, "pod " + pod.name() + " runs");
            claims(pod).forEach(this::show);
        }
    }

    /** The slices that drivers have published. */
    private record Slices(EmbeddedApiServer api, ApiProxy proxy, List<String> drivers) {

        List<JsonNode> objects() {
            return drivers.stream().flatMap(name -> of(name, all()).stream()).toList();
        }

        private List<JsonNode> all() {
            return api.store().list("resourceslices");
        }

        private static List<JsonNode> of(String driver, List<JsonNode> all) {
            return all.stream().filter(slice -> driver(slice).equals(driver)).toList();
        }

        private static String driver(JsonNode slice) {
            return slice.at("/spec/driver").asText();
        }

        /** Waits until there are slices of each driver and every pool is complete. */
        List<JsonNode> awaitComplete(Duration timeout) {
            try {
                api.store()
                        .await(
                                "resourceslices",
                                all -> drivers.stream().allMatch(name -> new SeenPools(of(name, all)).areComplete()),
                                timeout);
                return objects();
            } catch (AssertionError e) {
                throw new StepFailed("%s within %d s; %s".formatted(missing(), timeout.toSeconds(), requests()));
            }
        }

        private String missing() {
            List<JsonNode> all = all();
            List<String> silent =
                    drivers.stream().filter(name -> of(name, all).isEmpty()).toList();
            return silent.isEmpty()
                    ? "the pools are not complete: "
                            + drivers.stream()
                                    .flatMap(name -> new SeenPools(of(name, all)).incomplete().stream())
                                    .toList()
                    : "%s published no ResourceSlice".formatted(String.join(" and ", silent));
        }

        private String requests() {
            int asked = proxy.requests(Requests.to("resourceslices")).size();
            if (asked == 0) {
                return "no driver asked the API server for ResourceSlices: is it started with {KUBECONFIG}, or does it need --in-cluster?";
            }
            String refused = new Refusals(proxy).summary();
            return refused.isEmpty()
                    ? "the API server refused none of their writes; raise --step-timeout to allow more time"
                    : refused;
        }

        List<String> lines() {
            List<String> lines = new ArrayList<>();
            for (JsonNode slice : objects()) {
                lines.add("slice %s: driver %s, pool %s, generation %s"
                        .formatted(
                                SeenPools.name(slice),
                                driver(slice),
                                SeenPools.pool(slice),
                                SeenPools.generation(slice)));
                slice.at("/spec/devices").forEach(device -> lines.add("   " + line(device)));
            }
            return lines;
        }

        private static String line(JsonNode device) {
            StringBuilder line = new StringBuilder(device.path("name").asText());
            device.path("attributes")
                    .properties()
                    .forEach(one -> add(one.getKey(), one.getValue().elements().next(), line));
            device.path("capacity")
                    .properties()
                    .forEach(one -> add(one.getKey(), one.getValue().path("value"), line));
            return line.toString();
        }

        private static void add(String name, JsonNode value, StringBuilder line) {
            line.append(' ').append(name).append('=').append(value.asText());
        }
    }

    record PlayedPod(JsonNode object) {

        String namespace() {
            return object.at("/metadata/namespace").asText();
        }

        String name() {
            return object.at("/metadata/name").asText();
        }

        String node() {
            return object.at("/spec/nodeName").asText();
        }

        /** The names of its init containers, and then of the others. */
        List<String> containers() {
            List<String> names = new ArrayList<>();
            for (String kind : List.of("initContainers", "containers")) {
                object.path("spec")
                        .path(kind)
                        .forEach(one -> names.add(one.path("name").asText()));
            }
            return names;
        }
    }

    /**
     * The edits of a container, gathered as a container runtime does: later edits override earlier ones.
     *
     * <p>Not thread-safe.
     */
    static final class GatheredEdits {
        private final Map<String, String> env = new LinkedHashMap<>();
        private final List<String> others = new ArrayList<>();

        /** Returns the edits of a container with these devices; a spec's own edits once, before its devices'. */
        static GatheredEdits of(CdiView cdi, Collection<String> ids) {
            GatheredEdits edits = new GatheredEdits();
            Set<String> entered = new HashSet<>();
            for (String id : new LinkedHashSet<>(ids)) {
                CdiView.Resolved found = cdi.resolve(id);
                if (entered.add(found.file())) {
                    edits.add(found.spec().path("containerEdits"));
                }
                edits.add(found.device().path("containerEdits"));
            }
            return edits;
        }

        private void add(JsonNode containerEdits) {
            for (JsonNode variable : containerEdits.path("env")) {
                String[] parts = variable.asText().split("=", 2);
                env.put(parts[0], parts.length == 2 ? parts[1] : "");
            }
            containerEdits.path("deviceNodes").forEach(node -> other("device", "path", node));
            containerEdits.path("mounts").forEach(node -> other("mount", "containerPath", node));
            containerEdits.path("hooks").forEach(node -> other("hook", "hookName", node));
            containerEdits.path("netDevices").forEach(node -> other("net", "name", node));
            containerEdits.path("additionalGids").forEach(gid -> others.add("gid    " + gid));
        }

        private void other(String kind, String nameField, JsonNode node) {
            List<String> rest = node.propertyStream()
                    .filter(field -> !field.getKey().equals(nameField))
                    .map(field -> field.getKey() + "=" + plain(field.getValue()))
                    .toList();
            String line = "%-6s %s %s".formatted(kind, plain(node.path(nameField)), rest);
            others.add(rest.isEmpty() ? line.replace(" []", "") : line);
        }

        private static String plain(JsonNode value) {
            return value.isTextual() ? value.textValue() : value.toString();
        }

        /** Returns a line for each change that the container sees. */
        List<String> lines() {
            List<String> lines = new ArrayList<>();
            env.forEach((name, value) -> lines.add("env    " + name + "=" + value));
            lines.addAll(others);
            return lines;
        }
    }
}
