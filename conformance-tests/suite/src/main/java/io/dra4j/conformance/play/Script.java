// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
    private List<PlayedPod> pods = List.of();
    private final Map<PlayedClaim, ClaimResult> answers = new LinkedHashMap<>();

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
            List<DriverProcess> drivers) {

        CdiView cdi() {
            return new CdiView(place.cdi(), place.cdiDirectories());
        }
    }

    /** Brings the drivers and the claims on stage. */
    void open() {
        awaitRegistrations(
                phrase("The driver starts and registers", "The drivers start and register"));
        narrator.step(phrase("It publishes its devices", "They publish their devices"));
        published = cast.drivers().get(0).await(() -> slices.awaitComplete(settings.stepTimeout()));
        narrator.lines(1, slices.lines());
        narrator.step("The claims of " + settings.manifests() + " are there");
        pods = Manifests.apply(settings.manifests(), cast.api());
        pods.forEach(pod -> narrator.line(1, "pod " + pod.name() + ": " + pod.claims().values()));
    }

    /** Plays what happens to the claims, to the end. */
    void play() {
        pods.forEach(this::prepare);
        crash();
        prepareAgain();
        unprepare();
        stop();
        cast.drivers().forEach(DriverProcess::restart);
        awaitRegistrations(phrase("It is started once more", "They are started once more"));
        reuse();
        stop();
    }

    private String phrase(String ofOne, String ofSeveral) {
        return cast.drivers().size() == 1 ? ofOne : ofSeveral;
    }

    /** Prints how to look at what is there. */
    void invite() {
        narrator.step("Now it is your turn");
        narrator.lines(
                1,
                List.of(
                        "export KUBECONFIG=" + cast.kubeconfig(),
                        "kubectl get resourceslices -o yaml",
                        "kubectl get resourceclaims -A",
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
            narrator.line(1, "GetInfo: answered " + time + " of the socket");
        }
    }

    private void prepare(PlayedPod pod) {
        narrator.step("Pod " + pod.name() + " is prepared");
        Map<PlayedClaim, ClaimResult> prepared =
                cast.kubelet().prepare(List.copyOf(pod.claims().values()));
        answers.putAll(prepared);
        prepared.forEach(this::show);
        for (PlayedPod.Container container : pod.containers()) {
            narrator.line(1, "container " + container.name() + " with " + container.uses());
            narrator.lines(2, Edits.of(cast.cdi(), idsOf(container, pod)).lines());
        }
    }

    private void show(PlayedClaim claim, ClaimResult answer) {
        narrator.line(1, "claim " + claim + " (" + claim.id().uid() + ")");
        for (PreparedDevice device : answer.devices()) {
            narrator.line(
                    2,
                    PlayedKubelet.path(device)
                            + " for "
                            + device.requests()
                            + " as "
                            + device.cdiDeviceIds());
        }
    }

    private List<String> idsOf(PlayedPod.Container container, PlayedPod pod) {
        List<String> ids = new ArrayList<>();
        for (PlayedPod.Use use : container.uses()) {
            ClaimResult answer = answers.get(pod.claims().get(use.claim()));
            for (PreparedDevice device : answer.devices()) {
                if (use.request().isEmpty() || device.requests().contains(use.request())) {
                    ids.addAll(device.cdiDeviceIds());
                }
            }
        }
        return ids;
    }

    private void crash() {
        narrator.step(
                phrase("The driver is killed with SIGKILL", "The drivers are killed with SIGKILL"));
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
        answers.forEach(
                (claim, before) -> {
                    ClaimResult now = cast.kubelet().prepare(List.of(claim)).get(claim);
                    StepFailed.unless(
                            now.equals(before),
                            "claim %s got %s, and before the crash %s"
                                    .formatted(claim, now.devices(), before.devices()));
                    narrator.line(
                            1,
                            "claim " + claim + ": the same " + now.wire().length() / 2 + " bytes");
                });
    }

    private void unprepare() {
        narrator.step("Every claim is unprepared");
        PlayedClaim orphan = answers.keySet().iterator().next();
        cast.api().store().delete("resourceclaims", orphan.id().namespace(), orphan.id().name());
        narrator.line(1, "claim " + orphan + " was deleted before");
        for (PlayedPod pod : pods) {
            List<PlayedClaim> claims = List.copyOf(pod.claims().values());
            cast.kubelet().unprepare(claims);
            narrator.line(1, "pod " + pod.name() + ": " + claims);
        }
        Set<String> left = cast.cdi().files().keySet();
        StepFailed.unless(left.isEmpty(), "files are left in the CDI folder: " + left);
        narrator.line(1, "no CDI spec is left");
    }

    private void stop() {
        narrator.step(
                phrase(
                        "The driver is stopped with SIGTERM",
                        "The drivers are stopped with SIGTERM"));
        for (DriverProcess driver : cast.drivers()) {
            int status = driver.stop(settings.stepTimeout());
            StepFailed.unless(status == 0, driver.name() + " ended with " + status + ", not 0");
        }
        List<Path> sockets = sockets();
        StepFailed.unless(sockets.isEmpty(), "sockets are left: " + sockets);
        Set<String> specs = cast.cdi().files().keySet();
        StepFailed.unless(specs.isEmpty(), "CDI specs are left: " + specs);
        StepFailed.unless(
                published.equals(slices.objects()),
                "the slices changed, although the devices are the same");
        narrator.line(1, "exit status 0; no socket and no CDI spec is left");
        narrator.line(1, "the slices stay, and were not written again");
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
        narrator.step("Other claims get the same devices, which are free now");
        List<PlayedClaim> successors =
                answers.keySet().stream()
                        .map(claim -> PlayedClaim.of(cast.api().store().put(claim.successor())))
                        .toList();
        cast.kubelet().prepare(successors).forEach(this::show);
        cast.kubelet().unprepare(successors);
        narrator.line(1, "prepared and unprepared");
    }
}
