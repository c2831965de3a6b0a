// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.proxy.Fault;
import java.util.List;
import java.util.Map;

/** Versions: of the kubelet's services, of its messages, and of the API. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record VersionRules(TestContext context) {

    @Rule("DRA-VER-01")
    void bothVersionsAreServed() {
        List<String> versions = context.driver().info().versions();
        for (Service service : Service.values()) {
            Violation.unless(versions.contains(service.wireName()))
                    .because(
                            "the driver serves %s and not %s; kubelets before 1.34 know v1beta1 alone, later ones prefer v1",
                            versions, service.wireName());
        }
    }

    @Rule("DRA-VER-02")
    void bothVersionsShareTheirState() {
        Leftovers leftovers = Leftovers.since(context);
        across(Service.V1, Service.V1BETA1, leftovers);
        across(Service.V1BETA1, Service.V1, leftovers);
    }

    private void across(Service one, Service other, Leftovers leftovers) {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        context.calls().use(one);
        Reported first = Reported.withoutShares(context.calls().prepared(claim));
        context.calls().use(other);
        Reported second = Reported.withoutShares(context.calls().prepared(claim));
        Violation.unless(first.equals(second))
                .because(
                        "the same claim is answered %s by %s and %s by %s",
                        first, one.wireName(), second, other.wireName());
        context.calls().unprepared(claim);
        leftovers.none("after a prepare by %s and an unprepare by %s".formatted(one.wireName(), other.wireName()));
        KubeletClaim next = context.claims().allocate(context.devices().one());
        context.calls().use(one);
        context.calls().prepared(next);
        context.calls().unprepared(next);
    }

    @Rule("DRA-VER-03")
    void theUnknownIsUnimplementedOrIgnored() {
        try (RawCalls calls = new RawCalls(context.driver().info().endpoint())) {
            for (String method : List.of(
                    "k8s.io.kubelet.pkg.apis.dra.v9.DRAPlugin/NodePrepareResources",
                    PrepareMessages.method(context.driver().info().service()) + "Tomorrow",
                    "v9.DRAPlugin/X")) {
                RawCalls.Response answer = calls.call(method, new byte[0]);
                context.transcript().note(method + " -> " + answer);
                Violation.unless(answer.code().equals("UNIMPLEMENTED"))
                        .because("the unknown method %s is answered %s, where UNIMPLEMENTED is due", method, answer);
            }
            if (!context.devices().usable().isEmpty()) {
                unknownFieldsAreIgnored(calls);
            }
        }
    }

    private void unknownFieldsAreIgnored(RawCalls calls) {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        RawCalls.Response answer = calls.call(
                PrepareMessages.method(context.driver().info().service()),
                PrepareMessages.requestOfALaterVersion(List.of(claim)));
        context.transcript().note("prepare with unknown fields -> " + answer);
        Violation.unless(answer.code().equals("OK"))
                .about("DRA-PREP-01")
                .because("a prepare with fields of a later version failed: %s", answer);
        Map<String, ClaimResult> answers = PrepareMessages.results(answer.message());
        ClaimResult one = answers.get(claim.uid());
        Violation.unless(one != null && one.error().isEmpty())
                .about("DRA-PREP-01")
                .because(
                        "a prepare with fields of a later version is answered %s",
                        one == null ? "not at all" : one.error());
        context.calls().holds(claim);
        Violation.unless(Reported.withoutShares(one)
                        .equals(Reported.withoutShares(context.calls().prepared(claim))))
                .about("DRA-PREP-05")
                .because("fields of a later version changed the answer to a prepare: %s", Reported.of(one));
    }

    @ExecutionGroup.On(ExecutionGroup.FAULTS)
    @Rule("DRA-VER-04")
    void anApiServerMayServeTheNewestVersionAlone() {
        context.inject(Fault.status(404, "NotFound").on(r -> r.path().startsWith("/apis/resource.k8s.io/v1alpha")));
        context.inject(Fault.status(404, "NotFound").on(r -> r.path().startsWith("/apis/resource.k8s.io/v1beta")));
        if (context.driver().adapter().controlsProcess()) {
            context.driver().terminate();
            new Publishing(context).wipe(); // what was published before shows nothing
            context.driver().restarted();
        }
        Violation.unless(context.awaitPools())
                .because("with an API server that serves resource.k8s.io/v1 alone, no device is published");
        context.calls().prepared(context.claims().allocate(context.devices().one()));
    }
}
