// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The kubelet of a play: where it has reason to complain, the step has failed. */
final class PlayedKubelet implements AutoCloseable {

    private final FakeKubelet kubelet;
    private final List<String> drivers;
    private final Map<String, Integer> registrations = new HashMap<>(); // those waited for

    PlayedKubelet(Place place, List<String> drivers) {
        this.kubelet = FakeKubelet.start(place.registry(), place::outside);
        this.drivers = drivers;
    }

    /** Waits until a driver has registered once more since it was waited for last. */
    PluginInfo awaitRegistration(String driver, Duration patience) {
        int wanted = registrations.merge(driver, 1, Integer::sum);
        try {
            kubelet.awaitEvents(
                    events ->
                            registrations(driver, events) >= wanted || !strangers(events).isEmpty(),
                    patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StepFailed("the play was ended");
        }
        List<KubeletEvent> events = kubelet.events();
        StepFailed.unless(
                registrations(driver, events) >= wanted,
                strangers(events).isEmpty()
                        ? "%s has not registered within %d s%s"
                                .formatted(driver, patience.toSeconds(), attempts(events))
                        : "another driver has registered, and not %s: %s"
                                .formatted(driver, strangers(events)));
        return kubelet.plugin(driver)
                .orElseThrow(() -> new StepFailed(driver + " has registered, and is gone again"));
    }

    private static long registrations(String driver, List<KubeletEvent> events) {
        return of(Kind.REGISTERED, events).filter(e -> e.detail().equals(driver)).count();
    }

    private List<String> strangers(List<KubeletEvent> events) {
        return of(Kind.REGISTERED, events)
                .map(KubeletEvent::detail)
                .filter(name -> !drivers.contains(name))
                .toList();
    }

    private static String attempts(List<KubeletEvent> events) {
        List<String> failures =
                of(Kind.REGISTRATION_FAILED, events).map(KubeletEvent::detail).toList();
        return failures.isEmpty() ? "" : "; what the kubelet tried: " + failures;
    }

    /** How long after its socket's appearance a driver said last who it is. */
    String answerTime(String driver) {
        List<KubeletEvent> events = kubelet.events();
        KubeletEvent registered = last(of(Kind.REGISTERED, events), e -> e.detail().equals(driver));
        return last(of(Kind.INFO, events), e -> e.socket().equals(registered.socket())).detail();
    }

    private static KubeletEvent last(Stream<KubeletEvent> events, Predicate<KubeletEvent> wanted) {
        return events.filter(wanted).reduce((earlier, later) -> later).orElseThrow();
    }

    private static Stream<KubeletEvent> of(Kind kind, List<KubeletEvent> events) {
        return events.stream().filter(event -> event.kind() == kind);
    }

    /** Lets a driver prepare claims in one call. */
    Map<PlayedClaim, ClaimAnswer> prepare(String driver, List<PlayedClaim> claims) {
        CallResult result = kubelet.prepare(driver, named(claims));
        content(result);
        Map<PlayedClaim, ClaimAnswer> answers = new LinkedHashMap<>();
        claims.forEach(claim -> answers.put(claim, result.answers().get(claim.uid())));
        return answers;
    }

    /** Lets a driver unprepare claims in one call. */
    void unprepare(String driver, List<PlayedClaim> claims) {
        content(kubelet.unprepare(driver, named(claims)));
    }

    private static void content(CallResult result) {
        result.complaint()
                .ifPresent(
                        complaint -> {
                            throw new StepFailed(complaint);
                        });
    }

    private static List<KubeletClaim> named(List<PlayedClaim> claims) {
        return claims.stream()
                .map(claim -> new KubeletClaim(claim.namespace(), claim.name(), claim.uid()))
                .toList();
    }

    @Override
    public void close() {
        kubelet.close();
    }
}
