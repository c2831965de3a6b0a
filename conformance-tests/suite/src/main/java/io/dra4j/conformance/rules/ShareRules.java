// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** Devices that several claims have at a time, each with a share of its own. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record ShareRules(TestContext context) {

    private PublishedDevice shared() {
        return context.devices().upTo(Integer.MAX_VALUE).stream()
                .filter(PublishedDevice::isShared)
                .filter(ShareRules::hasPolicies)
                .findFirst()
                .orElseThrow(
                        () ->
                                new NotApplicable(
                                        "no device allows several claims and limits how much of its capacity each may take"));
    }

    private static boolean hasPolicies(PublishedDevice device) {
        return Cluster.elements(device.json().path("capacity")).stream()
                .allMatch(capacity -> capacity.has("requestPolicy"));
    }

    @Rule("DRA-PREP-21")
    void everyShareIsReportedByItsId() {
        PublishedDevice device = shared();
        KubeletClaim one = context.claims().allocate(device);
        KubeletClaim other = context.claims().allocate(device);
        reported(one, prepared(one, "a share of device " + device));
        reported(other, prepared(other, "a second share of device " + device));
        context.tidy();
        KubeletClaim both =
                context.claims()
                        .create(
                                context.claims()
                                        .draft()
                                        .request("r0", device)
                                        .request("r1", device));
        reported(both, prepared(both, "two shares of device " + device));
    }

    private ClaimResult prepared(KubeletClaim claim, String of) {
        return context.calls().prepared(claim, "a claim with %s is refused: %s", of);
    }

    private void reported(KubeletClaim claim, ClaimResult answer) {
        JsonNode results = context.claims().object(claim).at("/status/allocation/devices/results");
        Set<String> due = new TreeSet<>();
        results.forEach(result -> due.add(result.path("shareID").asText()));
        if (context.calls().service() == Service.V1) {
            Set<String> shares =
                    answer.devices().stream()
                            .map(PreparedDevice::shareId)
                            .map(String::valueOf)
                            .collect(Collectors.toCollection(TreeSet::new));
            Violation.unless(shares.equals(due))
                    .because(
                            "the answer has the share ids %s, and the allocation has %s",
                            shares, due);
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
                        answered.isEmpty()
                                ? !answer.devices().isEmpty()
                                : answered.equals(requests))
                .because(
                        "shares were allocated for %s and are reported for %s", requests, answered);
    }

    @Rule("DRA-PREP-22")
    void sharesAreIndependent() {
        PublishedDevice device = shared();
        KubeletClaim gone = context.claims().allocate(device);
        KubeletClaim stays = context.claims().allocate(device);
        prepared(gone, "a share of device " + device);
        ClaimResult answer = prepared(stays, "a second share of device " + device);
        List<String> edits = context.cdi().edits(answer.devices());

        context.calls().unprepared(gone);

        for (String id : CdiView.ids(answer)) {
            Violation.unless(!context.cdi().find(id).isEmpty())
                    .because("the unprepare of one share took CDI device %s of the other away", id);
        }
        List<String> now = context.cdi().edits(answer.devices());
        Violation.unless(now.equals(edits))
                .because(
                        "the unprepare of one share changed the edits of the other from %s to %s",
                        edits, now);
        Violation.unless(Reported.of(context.calls().prepared(stays)).equals(Reported.of(answer)))
                .because("the unprepare of one share changed what the other's claim is answered");
        prepared(
                context.claims().allocate(device),
                "a share of device " + device + " after another was given back");
    }
}
