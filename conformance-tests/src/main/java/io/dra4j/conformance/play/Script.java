// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.apiserver.EmbeddedApiServer;
import io.dra4j.conformance.kubelet.ClaimAnswer;
import io.dra4j.conformance.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.conformance.kubelet.PluginInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
    private final CdiFolder cdi;

    private List<JsonNode> published = List.of();
    private List<PlayedPod> pods = List.of();
    private final Map<PlayedClaim, ClaimAnswer> answers = new LinkedHashMap<>();

    Script(PlaySettings settings, Cast cast, Narrator narrator) {
        this.settings = settings;
        this.cast = cast;
        this.narrator = narrator;
        this.slices = new Slices(cast.api(), settings.driverName());
        this.cdi = new CdiFolder(cast.folders().cdi());
    }

    /** Who takes part. */
    record Cast(
            Folders folders, EmbeddedApiServer api, PlayedKubelet kubelet, DriverProcess driver) {}

    /** Brings the driver and the claims on stage. */
    void open() {
        awaitRegistration("The driver starts and registers");
        narrator.step("It publishes its devices");
        cast.driver().awaitDone(() -> slices.awaitComplete(settings.patience()));
        published = slices.objects();
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
        cast.driver().restart();
        awaitRegistration("It is started once more");
        reuse();
        stop();
    }

    /** Says how to look at what is there. */
    void invite() {
        narrator.step("Now it is your turn");
        narrator.lines(
                1,
                List.of(
                        "export KUBECONFIG=" + cast.folders().kubeconfig(),
                        "kubectl get resourceslices -o yaml",
                        "kubectl get resourceclaims -A",
                        "kubectl get resourceslices --watch",
                        "",
                        "the driver's output: " + cast.folders().driverLog(),
                        "Ctrl-C ends everything."));
    }

    private void awaitRegistration(String title) {
        narrator.step(title);
        long begin = System.nanoTime();
        PluginInfo info =
                cast.driver().await(() -> cast.kubelet().awaitRegistration(settings.patience()));
        long millis = Duration.ofNanos(System.nanoTime() - begin).toMillis();
        narrator.line(1, "process " + cast.driver().pid() + " registered after " + millis + " ms");
        narrator.line(1, info.name() + " speaks " + info.versions() + " on " + info.endpoint());
        narrator.line(1, "GetInfo: answered " + cast.kubelet().answerTime() + " of the socket");
    }

    private void prepare(PlayedPod pod) {
        narrator.step("Pod " + pod.name() + " is prepared");
        Map<PlayedClaim, ClaimAnswer> prepared = prepare(List.copyOf(pod.claims().values()));
        answers.putAll(prepared);
        prepared.forEach(this::tell);
        for (PlayedPod.Container container : pod.containers()) {
            narrator.line(1, "container " + container.name() + " with " + container.uses());
            Edits edits = cdi.resolve(idsOf(container, pod));
            narrator.lines(2, edits.lines());
        }
    }

    private Map<PlayedClaim, ClaimAnswer> prepare(List<PlayedClaim> claims) {
        Map<PlayedClaim, ClaimAnswer> prepared =
                cast.driver().await(() -> cast.kubelet().prepare(claims));
        prepared.forEach(this::check);
        return prepared;
    }

    private void check(PlayedClaim claim, ClaimAnswer answer) {
        List<String> allocated = claim.allocatedDevices(settings.driverName());
        List<String> answered = answer.devices().stream().map(Script::path).toList();
        StepFailed.unless(
                answered.containsAll(allocated) && allocated.containsAll(answered),
                "claim %s has %s, but the driver prepared %s"
                        .formatted(claim, allocated, answered));
    }

    private static String path(PreparedDevice device) {
        return device.pool() + "/" + device.device();
    }

    private void tell(PlayedClaim claim, ClaimAnswer answer) {
        narrator.line(1, "claim " + claim + " (" + claim.uid() + ")");
        for (PreparedDevice device : answer.devices()) {
            narrator.line(
                    2, path(device) + " for " + device.requests() + " as " + device.cdiDeviceIds());
        }
    }

    private List<String> idsOf(PlayedPod.Container container, PlayedPod pod) {
        List<String> ids = new ArrayList<>();
        for (PlayedPod.Use use : container.uses()) {
            ClaimAnswer answer = answers.get(pod.claims().get(use.claim()));
            for (PreparedDevice device : answer.devices()) {
                if (use.request().isEmpty() || device.requests().contains(use.request())) {
                    ids.addAll(device.cdiDeviceIds());
                }
            }
        }
        return ids;
    }

    private void crash() {
        narrator.step("The driver is killed with SIGKILL");
        long killed = cast.driver().pid();
        cast.driver().kill();
        narrator.line(1, "process " + killed + " is gone; nothing was said to the driver before");
        cast.driver().restart();
        awaitRegistration("It is started again");
    }

    private void prepareAgain() {
        narrator.step("Every claim is prepared again, and gets the same answer");
        answers.forEach(
                (claim, before) -> {
                    ClaimAnswer now = prepare(List.of(claim)).get(claim);
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
        cast.api().store().delete("resourceclaims", orphan.namespace(), orphan.name());
        narrator.line(1, "claim " + orphan + " was deleted before");
        for (PlayedPod pod : pods) {
            List<PlayedClaim> claims = List.copyOf(pod.claims().values());
            cast.driver().awaitDone(() -> cast.kubelet().unprepare(claims));
            narrator.line(1, "pod " + pod.name() + ": " + claims);
        }
        List<Path> left = cdi.files();
        StepFailed.unless(left.isEmpty(), "files are left in the CDI folder: " + left);
        narrator.line(1, "no CDI spec is left");
    }

    private void stop() {
        narrator.step("The driver is stopped with SIGTERM");
        int status = cast.driver().stop(settings.patience());
        StepFailed.unless(status == 0, "the driver ended with status " + status + ", not 0");
        List<Path> sockets = cast.folders().sockets();
        StepFailed.unless(sockets.isEmpty(), "sockets are left: " + sockets);
        StepFailed.unless(cdi.files().isEmpty(), "CDI specs are left: " + cdi.files());
        StepFailed.unless(
                published.equals(slices.objects()),
                "the slices changed, although the devices are the same");
        narrator.line(1, "exit status 0; no socket and no CDI spec is left");
        narrator.line(1, "the slices stay, and nobody has written them again");
    }

    private void reuse() {
        narrator.step("Other claims get the same devices: nobody holds them any more");
        List<PlayedClaim> successors =
                answers.keySet().stream()
                        .map(claim -> PlayedClaim.of(cast.api().store().put(claim.successor())))
                        .toList();
        prepare(successors).forEach(this::tell);
        cast.driver().awaitDone(() -> cast.kubelet().unprepare(successors));
        narrator.line(1, "prepared and unprepared");
    }
}
