// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kubelet's calls for claims: each driver is asked for those in which it has devices. */
final class PlayedCalls {

    private final PlayedKubelet kubelet;
    private final List<DriverProcess> drivers;

    PlayedCalls(PlayedKubelet kubelet, List<DriverProcess> drivers) {
        this.kubelet = kubelet;
        this.drivers = drivers;
    }

    /** Lets each driver prepare the claims in which it has devices. */
    Map<PlayedClaim, Answers> prepare(List<PlayedClaim> claims) {
        Map<PlayedClaim, Answers> prepared = new LinkedHashMap<>();
        claims.forEach(claim -> prepared.put(claim, new Answers(List.of())));
        for (DriverProcess driver : drivers) {
            List<PlayedClaim> own = claimsOf(driver, claims);
            if (!own.isEmpty()) {
                Map<PlayedClaim, ClaimAnswer> answered =
                        driver.await(() -> kubelet.prepare(driver.name(), own));
                answered.forEach((claim, answer) -> check(driver.name(), claim, answer));
                answered.forEach(
                        (claim, answer) -> prepared.merge(claim, Answers.of(answer), Answers::and));
            }
        }
        return prepared;
    }

    void unprepare(List<PlayedClaim> claims) {
        for (DriverProcess driver : drivers) {
            List<PlayedClaim> own = claimsOf(driver, claims);
            if (!own.isEmpty()) {
                driver.awaitDone(() -> kubelet.unprepare(driver.name(), own));
            }
        }
    }

    private static List<PlayedClaim> claimsOf(DriverProcess driver, List<PlayedClaim> claims) {
        return claims.stream()
                .filter(claim -> !claim.allocatedDevices(driver.name()).isEmpty())
                .toList();
    }

    private static void check(String driver, PlayedClaim claim, ClaimAnswer answer) {
        List<String> allocated = claim.allocatedDevices(driver);
        List<String> answered = answer.devices().stream().map(PlayedCalls::path).toList();
        StepFailed.unless(
                answered.containsAll(allocated) && allocated.containsAll(answered),
                "claim %s has %s of %s, which prepared %s"
                        .formatted(claim, allocated, driver, answered));
    }

    /** How people call a device. */
    static String path(PreparedDevice device) {
        return device.pool() + "/" + device.device();
    }
}
