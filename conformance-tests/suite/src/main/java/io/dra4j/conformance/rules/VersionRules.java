// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.proxy.Fault;
import java.util.List;
import java.util.Map;

/** Versions: of the kubelet's services, of its messages, and of the API. */
@Lane.On(Lane.CALLS)
final class VersionRules {

    private final Bench bench;

    VersionRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-VER-01")
    void bothVersionsAreServed() {
        List<String> versions = bench.driver().info().versions();
        for (Service service : Service.values()) {
            Violation.unless(
                    versions.contains(service.wireName()),
                    "the driver serves %s and not %s; kubelets before 1.34 know v1beta1 alone,"
                            + " later ones prefer v1",
                    versions,
                    service.wireName());
        }
    }

    @Rule("DRA-VER-02")
    void bothVersionsShareTheirState() {
        Leftovers leftovers = Leftovers.since(bench);
        across(Service.V1, Service.V1BETA1, leftovers);
        across(Service.V1BETA1, Service.V1, leftovers);
    }

    private void across(Service one, Service other, Leftovers leftovers) {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        bench.calls().use(one);
        Reported first = Reported.withoutShares(bench.calls().prepared(claim));
        bench.calls().use(other);
        Reported second = Reported.withoutShares(bench.calls().prepared(claim));
        Violation.unless(
                first.equals(second),
                "the same claim is answered %s by %s and %s by %s",
                first,
                one.wireName(),
                second,
                other.wireName());
        bench.calls().unprepared(claim);
        leftovers.none(
                "after a prepare by %s and an unprepare by %s"
                        .formatted(one.wireName(), other.wireName()));
        KubeletClaim next = bench.claims().allocate(bench.devices().one());
        bench.calls().use(one);
        bench.calls().prepared(next);
        bench.calls().unprepared(next);
    }

    @Rule("DRA-VER-03")
    void theUnknownIsUnimplementedOrIgnored() {
        try (RawCalls calls = new RawCalls(bench.driver().info().endpoint())) {
            for (String method :
                    List.of(
                            "k8s.io.kubelet.pkg.apis.dra.v9.DRAPlugin/NodePrepareResources",
                            PrepareMessages.method(bench.driver().info().service()) + "Tomorrow",
                            "v9.DRAPlugin/X")) {
                RawCalls.Answer answer = calls.call(method, new byte[0]);
                bench.transcript().note(method + " -> " + answer);
                Violation.unless(
                        answer.code().equals("UNIMPLEMENTED"),
                        "the unknown method %s is answered %s, where UNIMPLEMENTED is due",
                        method,
                        answer);
            }
            if (!bench.devices().usable().isEmpty()) {
                unknownFieldsAreIgnored(calls);
            }
        }
    }

    private void unknownFieldsAreIgnored(RawCalls calls) {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        RawCalls.Answer answer =
                calls.call(
                        PrepareMessages.method(bench.driver().info().service()),
                        PrepareMessages.requestOfALaterVersion(List.of(claim)));
        bench.transcript().note("prepare with unknown fields -> " + answer);
        Violation.unless(
                answer.code().equals("OK"),
                "a prepare with fields of a later version failed: %s",
                answer);
        Map<String, ClaimAnswer> answers = PrepareMessages.answers(answer.message());
        ClaimAnswer one = answers.get(claim.uid());
        Violation.unless(
                one != null && one.error().isEmpty(),
                "a prepare with fields of a later version is answered %s",
                one == null ? "not at all" : one.error());
        Violation.unless(
                Reported.withoutShares(one)
                        .equals(Reported.withoutShares(bench.calls().prepared(claim))),
                "fields of a later version changed the answer to a prepare: %s",
                Reported.of(one));
    }

    @Lane.On(Lane.TROUBLE)
    @Rule("DRA-VER-04")
    void anApiServerMayServeTheNewestVersionAlone() {
        bench.inject(
                Fault.status(404, "NotFound")
                        .on(r -> r.path().startsWith("/apis/resource.k8s.io/v1alpha")));
        bench.inject(
                Fault.status(404, "NotFound")
                        .on(r -> r.path().startsWith("/apis/resource.k8s.io/v1beta")));
        if (bench.driver().adapter().controlsProcess()) {
            bench.driver().terminate();
            new Publishing(bench).wipe(); // what was published before shows nothing
            bench.driver().restarted();
        }
        Violation.unless(
                bench.awaitPools(),
                "with an API server that serves resource.k8s.io/v1 alone, no device is published");
        bench.calls().prepared(bench.claims().allocate(bench.devices().one()));
    }
}
