// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.Patience;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.HealthWatch;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** How a driver ends that is asked to. */
@Lane.On(Lane.RESTARTS)
final class ShutdownRules {

    /** So long a call is under way that SIGTERM comes into. */
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    private final Bench bench;

    ShutdownRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-SHUT-01")
    void sigtermEndsTheProcess() throws Exception {
        int idle = ends("while it was idle");
        bench.driver().restarted();
        whileACallAndAStreamAreOpen();
        whileItStarts();
        bench.driver().restarted();
        Violation.minorUnless(
                idle == 0, "SIGTERM ended the idle driver with exit status %d instead of 0", idle);
    }

    private int ends(String when) {
        bench.transcript().note("SIGTERM " + when);
        Instance instance = bench.driver().current();
        instance.terminate();
        OptionalInt status = bench.driver().awaitExit(instance, Patience.SHUTDOWN);
        Violation.unless(
                status.isPresent(),
                "SIGTERM %s did not end the driver within %d s",
                when,
                Patience.SHUTDOWN.toSeconds());
        return status.getAsInt();
    }

    private void whileACallAndAStreamAreOpen() throws Exception {
        HealthStreams streams = new HealthStreams(bench);
        HealthWatch.Version version =
                HealthStreams.versions(bench).stream()
                        .findFirst()
                        .orElse(HealthWatch.Version.V1ALPHA1);
        try (HealthWatch stream = streams.open(version)) {
            stream.awaitAll(
                    told -> !told.isEmpty() || stream.end().isPresent(), Patience.FIRST_HEALTH);
            Optional<HeldCall> call =
                    bench.devices().usable().stream()
                            .findFirst()
                            .map(bench.claims()::allocate)
                            .flatMap(claim -> HeldCall.begin(bench, claim));
            ends("while a stream was open, and a call waited for the API server");
            bench.transcript().note("the stream ended: " + stream.end().orElse("not yet"));
            call.ifPresent(HeldCall::release);
            if (call.isPresent()) {
                call.get().end();
            }
        }
        bench.driver().restarted();
    }

    private void whileItStarts() {
        int before = bench.proxy().lastNumber();
        try (Injection hanging = bench.inject(Fault.delay(Duration.ofMinutes(10)))) {
            ends("while the API server hung");
            bench.driver().use(bench.driver().launch(Map.of()));
            bench.proxy().await(Duration.ofSeconds(5), Requests.after(before));
            ends("during its start, while the API server hung");
            bench.transcript().note("the API server hung: " + !hanging.over());
        } catch (AssertionError e) {
            ends("during its start, before it asked the API server");
        }
    }

    @Rule("DRA-SHUT-02")
    void specsAndStateOutliveAStop() {
        Held held = Held.prepared(bench);
        Map<String, String> specs = bench.cdi().files();
        bench.driver().terminate();
        String after = "after a graceful stop";
        held.resolves(after);
        Violation.unless(
                bench.cdi().files().equals(specs),
                "%s, the CDI directory differs: it had %s and has %s",
                after,
                specs.keySet(),
                bench.cdi().files().keySet());
        bench.driver().restarted();
        held.resolves(after + " and a new start");
        held.isRemembered(after + " and a new start");
        held.repeats(after + " and a new start");
        held.isReleased(after + " and a new start");
    }

    @Rule("DRA-SHUT-03")
    void aCallUnderWayEndsAndLeavesNothing() throws Exception {
        Leftovers leftovers = Leftovers.since(bench);
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        HeldCall call =
                HeldCall.begin(bench, claim, A_WHILE)
                        .orElseThrow(
                                () -> new NotApplicable("the driver reads no claim to prepare it"));
        bench.transcript().note("SIGTERM while the call waits for the API server");
        bench.driver().current().terminate();
        CallResult result = call.end();
        if (result.complaint().isEmpty()) {
            CdiView.ids(result.answers().get(claim.uid())).forEach(bench.cdi()::resolve);
        }
        Violation.unless(
                bench.driver().awaitExit(bench.driver().current(), Patience.SHUTDOWN).isPresent(),
                "SIGTERM during a Prepare did not end the driver within %d s",
                Patience.SHUTDOWN.toSeconds());
        call.release();
        bench.driver().restarted();
        bench.calls().unprepared(claim);
        leftovers.none(
                "after a SIGTERM during the Prepare of claim %s, a new start and Unprepare"
                        .formatted(claim.uid()));
        KubeletClaim next = bench.claims().allocate(bench.devices().one());
        bench.calls().prepared(next);
        bench.calls().unprepared(next);
    }
}
