// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.HealthStreams;
import io.dra4j.conformance.probes.Held;
import io.dra4j.conformance.probes.HeldPrepare;
import io.dra4j.conformance.probes.Idle;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Rules for a driver's graceful shutdown. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record ShutdownRules(TestContext context) {

    /** Duration of the call that SIGTERM interrupts. */
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    @Rule("DRA-SHUT-01")
    void sigtermEndsTheProcess() throws Exception {
        Idle.await(context);
        int idle = ends("while it was idle");
        context.driver().restarted();
        Idle.await(context);
        whileACallAndAStreamAreOpen();
        Violation.minorUnless(idle == 0)
                .because("SIGTERM ended the idle driver with exit status %d instead of 0", idle);
    }

    private int ends(String when) {
        context.transcript().note("SIGTERM " + when);
        Instance instance = context.driver().current();
        instance.terminate();
        OptionalInt status = context.driver().awaitExit(instance, Timeouts.SHUTDOWN);
        Violation.unless(status.isPresent())
                .because("SIGTERM %s did not end the driver within %d s", when, Timeouts.SHUTDOWN.toSeconds());
        return status.getAsInt();
    }

    private void whileACallAndAStreamAreOpen() throws Exception {
        HealthStreams streams = new HealthStreams(context);
        OpenHealthStream.Version version =
                HealthStreams.versions(context).stream().findFirst().orElse(OpenHealthStream.Version.V1ALPHA1);
        try (OpenHealthStream stream = streams.open(version)) {
            stream.awaitAll(sent -> !sent.isEmpty() || stream.end().isPresent(), Timeouts.FIRST_HEALTH);
            Optional<HeldPrepare> call = context.devices().usable().stream()
                    .findFirst()
                    .map(context.claims()::allocate)
                    .flatMap(claim -> HeldPrepare.of(context, claim));
            ends("while a stream was open, and a call waited for the API server");
            context.transcript().note("the stream ended: " + stream.end().orElse("not yet"));
            if (call.isPresent()) {
                call.get().release();
                call.get().end();
            }
        }
        context.driver().restarted();
    }

    /** Ignores the exit status and leftovers, which then depend on timing. */
    @Rule("DRA-SHUT-04")
    void sigtermDuringTheStartEndsTheProcess() {
        context.driver().terminate();
        whileItStarts();
        context.driver().restarted();
        RegistrationSocket registration = RegistrationSocket.of(context);
        Path service = registration.service();
        int status = ends("right after its registration");
        List<Path> left = RegistrationSocket.left(registration.path(), service);
        context.driver().restarted();
        context.remark("right after its registration it ended with exit status %d%s"
                .formatted(status, left.isEmpty() ? "" : ", and left the sockets " + left));
    }

    private void whileItStarts() {
        int before = context.proxy().lastNumber();
        try (Injection hanging = context.inject(Fault.delay(Duration.ofMinutes(10)))) {
            ends("while the API server hung");
            context.driver().use(context.driver().launch(Map.of()));
            context.proxy().await(Duration.ofSeconds(5), Requests.after(before));
            ends("during its start, while the API server hung");
            context.transcript().note("the API server hung: " + !hanging.over());
        } catch (AssertionError e) {
            ends("during its start, before it asked the API server");
        }
    }

    @Rule("DRA-SHUT-02")
    void specsAndStateOutliveAStop() {
        Held held = Held.prepared(context);
        Content specs = context.cdi().allContents();
        context.driver().terminate();
        String after = "after a graceful stop";
        String again = after + " and a new start";
        held.resolves(after);
        List<String> differences = context.cdi().allChanges(specs);
        Violation.unless(differences.isEmpty())
                .because("%s, the CDI directory has changed: %s", after, SeenPools.few(differences));
        context.driver().restarted();
        held.resolves(again);
        held.isRemembered(again);
        held.repeats(again);
        held.isReleased(again);
    }

    @Rule("DRA-SHUT-03")
    void aCallUnderWayEndsAndLeavesNothing() throws Exception {
        Leftovers leftovers = Leftovers.since(context);
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        HeldPrepare call = HeldPrepare.of(context, claim, A_WHILE)
                .orElseThrow(() -> new NotApplicable("the driver reads no claim to prepare it"));
        context.transcript().note("SIGTERM while the call waits for the API server");
        context.driver().current().terminate();
        CallResult result = call.end();
        if (result.complaint().isEmpty()) {
            CdiView.ids(result.results().get(claim.uid())).forEach(context.cdi()::resolve);
        }
        Violation.unless(context.driver()
                        .awaitExit(context.driver().current(), Timeouts.SHUTDOWN)
                        .isPresent())
                .about("DRA-SHUT-01")
                .because("SIGTERM during a Prepare did not end the driver within %d s", Timeouts.SHUTDOWN.toSeconds());
        call.release();
        context.driver().restarted();
        context.calls().unprepared(claim);
        leftovers.none(
                "after a SIGTERM during the Prepare of claim %s, a new start and Unprepare".formatted(claim.uid()));
        context.unpreparedClaim(context.devices().one());
    }
}
