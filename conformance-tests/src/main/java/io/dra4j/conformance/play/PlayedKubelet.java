// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.conformance.kubelet.CallResult;
import io.dra4j.conformance.kubelet.ClaimAnswer;
import io.dra4j.conformance.kubelet.FakeKubelet;
import io.dra4j.conformance.kubelet.KubeletClaim;
import io.dra4j.conformance.kubelet.KubeletEvent;
import io.dra4j.conformance.kubelet.KubeletEvent.Kind;
import io.dra4j.conformance.kubelet.PluginInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kubelet of a play: where it has reason to complain, the step has failed. */
final class PlayedKubelet implements AutoCloseable {

    private final FakeKubelet kubelet;
    private final String driver;
    private int registrations; // how many the play has waited for

    PlayedKubelet(Path registry, String driver) {
        this.kubelet = FakeKubelet.start(registry);
        this.driver = driver;
    }

    /** Waits until the driver has registered once more since it was waited for last. */
    PluginInfo awaitRegistration(Duration patience) {
        registrations++;
        try {
            boolean registered =
                    kubelet.awaitEvents(
                            events -> of(Kind.REGISTERED, events).size() >= registrations,
                            patience);
            StepFailed.unless(
                    registered,
                    "no driver has registered within %d s%s"
                            .formatted(patience.toSeconds(), attempts()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StepFailed("the play was ended");
        }
        return kubelet.plugin(driver)
                .orElseThrow(
                        () ->
                                new StepFailed(
                                        "another driver has registered, and not "
                                                + driver
                                                + ": "
                                                + of(Kind.REGISTERED, kubelet.events())));
    }

    /** How long after its socket's appearance the driver said last who it is. */
    String answerTime() {
        List<String> times = of(Kind.INFO, kubelet.events());
        return times.get(times.size() - 1);
    }

    private String attempts() {
        List<String> failures = of(Kind.REGISTRATION_FAILED, kubelet.events());
        return failures.isEmpty() ? "" : "; what the kubelet tried: " + failures;
    }

    private static List<String> of(Kind kind, List<KubeletEvent> events) {
        return events.stream()
                .filter(event -> event.kind() == kind)
                .map(KubeletEvent::detail)
                .toList();
    }

    /** Prepares claims in one call. */
    Map<PlayedClaim, ClaimAnswer> prepare(List<PlayedClaim> claims) {
        CallResult result = kubelet.prepare(driver, named(claims));
        content(result);
        Map<PlayedClaim, ClaimAnswer> answers = new LinkedHashMap<>();
        claims.forEach(claim -> answers.put(claim, result.answers().get(claim.uid())));
        return answers;
    }

    /** Unprepares claims in one call. */
    void unprepare(List<PlayedClaim> claims) {
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
