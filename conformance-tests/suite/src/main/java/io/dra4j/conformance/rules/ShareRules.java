// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** Devices that several claims have at a time, each with a share of its own. */
@Lane.On(Lane.CALLS)
final class ShareRules {

    private final Bench bench;

    ShareRules(Bench bench) {
        this.bench = bench;
    }

    private PublishedDevice shared() {
        return bench.devices().upTo(Integer.MAX_VALUE).stream()
                .filter(PublishedDevice::isShared)
                .filter(ShareRules::hasPolicies)
                .findFirst()
                .orElseThrow(
                        () ->
                                new NotApplicable(
                                        "no device may have several claims and says how much of"
                                                + " its capacity each may take"));
    }

    private static boolean hasPolicies(PublishedDevice device) {
        return Cluster.elements(device.json().path("capacity")).stream()
                .allMatch(capacity -> capacity.has("requestPolicy"));
    }

    @Rule("DRA-PREP-21")
    void everyShareIsReportedByItsId() {
        PublishedDevice device = shared();
        KubeletClaim one = bench.claims().allocate(device);
        KubeletClaim other = bench.claims().allocate(device);
        reported(one, prepared(one, "a share of device " + device));
        reported(other, prepared(other, "a second share of device " + device));
        bench.tidy();
        KubeletClaim both =
                bench.claims()
                        .create(bench.claims().draft().request("r0", device).request("r1", device));
        reported(both, prepared(both, "two shares of device " + device));
    }

    private ClaimAnswer prepared(KubeletClaim claim, String of) {
        CallResult result = bench.calls().prepare(claim);
        Violation.unless(
                result.complaint().isEmpty(),
                "a claim with %s is refused: %s",
                of,
                result.complaint().orElse(""));
        return result.answers().get(claim.uid());
    }

    private void reported(KubeletClaim claim, ClaimAnswer answer) {
        JsonNode results = bench.claims().object(claim).at("/status/allocation/devices/results");
        Set<String> due = new TreeSet<>();
        results.forEach(result -> due.add(result.path("shareID").asText()));
        if (bench.calls().service() == Service.V1) {
            Set<String> shares =
                    answer.devices().stream()
                            .map(PreparedDevice::shareId)
                            .map(String::valueOf)
                            .collect(Collectors.toCollection(TreeSet::new));
            Violation.unless(
                    shares.equals(due),
                    "the answer has the share ids %s, and the allocation has %s",
                    shares,
                    due);
        }
        Set<String> requests =
                StreamSupport.stream(results.spliterator(), false)
                        .map(result -> result.path("request").asText())
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> answered =
                answer.devices().stream()
                        .flatMap(device -> device.requests().stream())
                        .collect(Collectors.toCollection(TreeSet::new));
        Violation.unless(
                answered.isEmpty() ? !answer.devices().isEmpty() : answered.equals(requests),
                "shares were allocated for %s and are reported for %s",
                requests,
                answered);
    }

    @Rule("DRA-PREP-22")
    void sharesAreIndependent() {
        PublishedDevice device = shared();
        KubeletClaim gone = bench.claims().allocate(device);
        KubeletClaim stays = bench.claims().allocate(device);
        prepared(gone, "a share of device " + device);
        ClaimAnswer answer = prepared(stays, "a second share of device " + device);
        List<String> edits = bench.cdi().edits(answer.devices());

        bench.calls().unprepared(gone);

        for (String id : CdiView.ids(answer)) {
            Violation.unless(
                    !bench.cdi().find(id).isEmpty(),
                    "the unprepare of one share took CDI device %s of the other away",
                    id);
        }
        List<String> now = bench.cdi().edits(answer.devices());
        Violation.unless(
                now.equals(edits),
                "the unprepare of one share changed the edits of the other from %s to %s",
                edits,
                now);
        Violation.unless(
                Reported.of(bench.calls().prepared(stays)).equals(Reported.of(answer)),
                "the unprepare of one share changed what the other's claim is answered");
        prepared(
                bench.claims().allocate(device),
                "a share of device " + device + " after another was given back");
    }
}
