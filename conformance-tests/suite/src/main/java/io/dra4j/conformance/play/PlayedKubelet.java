// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

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
                    events -> registrations(driver, events) >= times
                            || !unexpected(events).isEmpty(),
                    timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StepFailed("the play was ended");
        }
        List<KubeletEvent> events = kubelet.events();
        StepFailed.unless(
                registrations(driver, events) >= times,
                unexpected(events).isEmpty()
                        ? "%s has not registered within %d s%s".formatted(driver, timeout.toSeconds(), attempts(events))
                        : "another driver has registered instead of %s: %s".formatted(driver, unexpected(events)));
        return kubelet.plugin(driver)
                .orElseThrow(() -> new StepFailed(driver + " has registered, and has disappeared again"));
    }

    private static int registrations(String driver, List<KubeletEvent> events) {
        return Collections.frequency(details(Kind.REGISTERED, events), driver);
    }

    private List<String> unexpected(List<KubeletEvent> events) {
        List<String> names = drivers.stream().map(DriverProcess::name).toList();
        return details(Kind.REGISTERED, events).stream()
                .filter(name -> !names.contains(name))
                .toList();
    }

    private static String attempts(List<KubeletEvent> events) {
        List<String> failures = details(Kind.REGISTRATION_FAILED, events);
        return failures.isEmpty() ? "" : "; what the kubelet tried: " + failures;
    }

    private static List<String> details(Kind kind, List<KubeletEvent> events) {
        return events.stream()
                .filter(e -> e.kind() == kind)
                .map(KubeletEvent::detail)
                .toList();
    }

    /** The time from a socket's appearance to the driver's last GetInfo. */
    String answerTime(String driver) {
        Path socket = last(Kind.REGISTERED, e -> e.detail().equals(driver)).socket();
        return last(Kind.INFO, e -> e.socket().equals(socket)).detail();
    }

    private KubeletEvent last(Kind kind, Predicate<KubeletEvent> wanted) {
        return kubelet.events().stream()
                .filter(event -> event.kind() == kind && wanted.test(event))
                .reduce((earlier, later) -> later)
                .orElseThrow();
    }

    /** The drivers' answers for claims, merged for each claim. */
    Map<PlayedClaim, ClaimResult> prepare(List<PlayedClaim> claims) {
        Map<PlayedClaim, ClaimResult> prepared = new LinkedHashMap<>();
        claims.forEach(claim -> prepared.put(claim, new ClaimResult(List.of(), "", "")));
        for (DriverProcess driver : drivers) {
            List<PlayedClaim> own = claimsOf(driver, claims);
            CallResult result = call(driver, own, kubelet::prepare);
            for (PlayedClaim claim : own) {
                ClaimResult answer = result.results().get(claim.id().uid());
                check(driver.name(), claim, answer);
                prepared.merge(claim, answer, PlayedKubelet::together);
            }
        }
        return prepared;
    }

    private static ClaimResult together(ClaimResult one, ClaimResult other) {
        return new ClaimResult(
                Stream.of(one, other)
                        .flatMap(answer -> answer.devices().stream())
                        .toList(),
                "",
                one.wire() + other.wire());
    }

    private static List<PlayedClaim> claimsOf(DriverProcess driver, List<PlayedClaim> claims) {
        return claims.stream()
                .filter(claim -> !claim.allocatedDevices(driver.name()).isEmpty())
                .toList();
    }

    private static CallResult call(
            DriverProcess driver, List<PlayedClaim> claims, BiFunction<String, List<KubeletClaim>, CallResult> call) {
        List<KubeletClaim> ids = claims.stream().map(PlayedClaim::id).toList();
        return ids.isEmpty()
                ? new CallResult(List.of(), Map.of(), CallResult.OK)
                : driver.await(() -> content(call.apply(driver.name(), ids)));
    }

    private static CallResult content(CallResult result) {
        String complaint = result.complaint().orElse("");
        StepFailed.unless(complaint.isEmpty(), complaint);
        return result;
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

    private static void check(String driver, PlayedClaim claim, ClaimResult answer) {
        List<String> allocated = claim.allocatedDevices(driver);
        List<String> answered =
                answer.devices().stream().map(PlayedKubelet::path).toList();
        StepFailed.unless(
                answered.containsAll(allocated) && allocated.containsAll(answered),
                "claim %s has %s of %s, but it prepared %s".formatted(claim, allocated, driver, answered));
    }

    /** Returns a device's name for people. */
    static String path(PreparedDevice device) {
        return device.pool() + "/" + device.device();
    }
}
