// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The kubelet of a play, which calls each driver for the claims in which it has devices: any complaint of the kubelet
 * fails the step.
 */
record PlayedKubelet(FakeKubelet kubelet, List<DriverProcess> drivers) {

    /** Waits until a driver has registered once for each of its starts. */
    PluginInfo awaitRegistration(DriverProcess driver, Duration timeout) {
        return driver.await(() -> registered(driver.name(), driver.starts(), timeout));
    }

    private PluginInfo registered(String driver, int times, Duration timeout) {
        try {
            kubelet.awaitEvents(
                    events -> registrations(driver) >= times || !unexpected().isEmpty(), timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StepFailed("the play was ended");
        }
        StepFailed.unless(
                registrations(driver) >= times,
                unexpected().isEmpty()
                        ? "%s has not registered within %d s%s".formatted(driver, timeout.toSeconds(), attempts())
                        : "another driver has registered instead of %s: %s".formatted(driver, unexpected()));
        return kubelet.plugin(driver)
                .orElseThrow(() -> new StepFailed(driver + " has registered, and has disappeared again"));
    }

    private int registrations(String driver) {
        return Collections.frequency(details(Kind.REGISTERED), driver);
    }

    private List<String> unexpected() {
        List<String> names = drivers.stream().map(DriverProcess::name).toList();
        return details(Kind.REGISTERED).stream()
                .filter(name -> !names.contains(name))
                .toList();
    }

    private String attempts() {
        List<String> failures = details(Kind.REGISTRATION_FAILED);
        return failures.isEmpty() ? "" : "; what the kubelet tried: " + failures;
    }

    private List<String> details(Kind kind) {
        return kubelet.events(kind, 0).stream().map(KubeletEvent::detail).toList();
    }

    /** The time from a socket's appearance to the driver's last GetInfo. */
    String answerTime(String driver) {
        Path socket = last(Kind.REGISTERED, e -> e.detail().equals(driver)).socket();
        return last(Kind.INFO, e -> e.socket().equals(socket)).detail();
    }

    private KubeletEvent last(Kind kind, Predicate<KubeletEvent> wanted) {
        return kubelet.events(kind, 0).stream()
                .filter(wanted)
                .reduce((earlier, later) -> later)
                .orElseThrow();
    }

    List<PreparedDevice> prepare(PlayedClaim claim) {
        List<PreparedDevice> prepared = new ArrayList<>();
        for (DriverProcess driver : drivers) {
            if (!claim.allocatedDevices(driver.name()).isEmpty()) {
                List<PreparedDevice> own = driver.await(() -> answer(driver.name(), claim.id()));
                check(driver.name(), claim, own);
                prepared.addAll(own);
            }
        }
        return prepared;
    }

    private List<PreparedDevice> answer(String driver, KubeletClaim claim) {
        CallResult result = kubelet.prepare(driver, List.of(claim));
        String complaint = result.complaint().orElse("");
        StepFailed.unless(complaint.isEmpty(), complaint);
        return result.results().get(claim.uid()).devices();
    }

    /** Waits for something that needs all drivers, and gives up immediately if one of them ends. */
    <T> T await(Supplier<T> waiting) {
        Supplier<T> guarded = waiting;
        for (DriverProcess driver : drivers) {
            Supplier<T> inner = guarded;
            guarded = () -> driver.await(inner);
        }
        return guarded.get();
    }

    /** Checks that each driver has prepared what was allocated to a claim. */
    void check(PlayedClaim claim, List<PreparedDevice> devices) {
        List<String> answered = devices.stream().map(PlayedKubelet::path).toList();
        for (DriverProcess driver : drivers) {
            List<String> allocated = claim.allocatedDevices(driver.name());
            StepFailed.unless(
                    answered.containsAll(allocated),
                    "claim %s has %s of %s, but %s were prepared".formatted(claim, allocated, driver.name(), answered));
        }
    }

    private static void check(String driver, PlayedClaim claim, List<PreparedDevice> devices) {
        List<String> allocated = claim.allocatedDevices(driver);
        List<String> answered = devices.stream().map(PlayedKubelet::path).toList();
        StepFailed.unless(
                answered.containsAll(allocated) && allocated.containsAll(answered),
                "claim %s has %s of %s, but it prepared %s".formatted(claim, allocated, driver, answered));
    }

    static String path(PreparedDevice device) {
        return device.pool() + "/" + device.device();
    }

    record PlayedClaim(KubeletClaim id, JsonNode object) {

        static PlayedClaim of(JsonNode claim) {
            JsonNode metadata = claim.path("metadata");
            return new PlayedClaim(
                    new KubeletClaim(
                            metadata.path("namespace").asText(),
                            metadata.path("name").asText(),
                            metadata.path("uid").asText()),
                    claim);
        }

        /** The devices of a driver that the scheduler has allocated, as {@code pool/device}. */
        List<String> allocatedDevices(String driver) {
            return ApiObjects.elements(object.at("/status/allocation/devices/results")).stream()
                    .filter(result -> result.path("driver").asText().equals(driver))
                    .map(result -> result.path("pool").asText() + "/"
                            + result.path("device").asText())
                    .toList();
        }

        /** Returns whether it was made for a pod, and is deleted with it. */
        boolean isOfTemplate() {
            return !object.at("/metadata/ownerReferences").isEmpty();
        }

        @Override
        public String toString() {
            return id.namespace() + "/" + id.name();
        }
    }
}
