// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.ReadOnlyDirectories;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.HeldPrepare;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.conformance.probes.StateFiles;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.RegistrationCalls;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Calls of the kubelet while the API server is slow, faulty or unreachable, or the driver cannot write. */
@ExecutionGroup.On(ExecutionGroup.FAULTS)
record FaultRules(TestContext context) {

    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final Duration SOME = Duration.ofSeconds(5);
    private static final int TIMES = 20;

    @Rule(value = "DRA-REG-03", unregistered = true)
    void getInfoIsAnsweredAtAnyTime() {
        RegistrationSocket socket = RegistrationSocket.of(context);
        try (RegistrationCalls calls = new RegistrationCalls(socket.path())) {
            socket.info();
            inTime(calls, "while nothing else happens");
            context.proxy().down();
            try {
                inTime(calls, "while the API server is away");
            } finally {
                context.proxy().up();
            }
            if (context.driver().isReady() && !context.devices().usable().isEmpty()) {
                KubeletClaim claim = context.claims().allocate(context.devices().one());
                try (HeldPrepare held = HeldPrepare.ofReads(context, claim)) {
                    inTime(calls, "while a prepare waits for the API server");
                    context.transcript().note("still waiting: " + held.isWaiting());
                }
            }
        }
    }

    /** Repeats a call that was slow by chance: the second counts. */
    private void inTime(RegistrationCalls calls, String when) {
        for (int i = 0; i < TIMES; i++) {
            Duration took = timed(calls, when);
            if (took.compareTo(Timeouts.GET_INFO) > 0) {
                took = timed(calls, when);
            }
            context.measurements().time("slowest GetInfo " + when, took, Timeouts.GET_INFO);
            Violation.unless(took.compareTo(Timeouts.GET_INFO) <= 0)
                    .because(
                            "GetInfo took %d ms %s; the kubelet gives up after %d ms",
                            took.toMillis(), when, Timeouts.GET_INFO.toMillis());
        }
    }

    private Duration timed(RegistrationCalls calls, String when) {
        long begin = System.nanoTime();
        try {
            calls.info(SOME);
        } catch (RegistrationCalls.Failed e) {
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            if (took.compareTo(SOME) >= 0) {
                return took;
            }
            throw failed("GetInfo failed %s: %s", when, e.getMessage());
        }
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    @Rule("DRA-REG-10")
    void aDriverRegistersWithoutAnApiServer() {
        context.driver().kill();
        context.proxy().down();
        int before = context.kubelet().events().size();
        Instance instance;
        boolean early;
        try {
            instance = context.driver().launch(Map.of());
            context.driver().use(instance);
            early = context.driver().registers(before, context.timeouts().soon());
        } finally {
            context.proxy().up();
        }
        if (!early && instance.isAlive()) {
            Violation.unless(context.driver()
                            .registers(before, context.driver().adapter().startTimeout()))
                    .because(
                            "the driver was started without an API server, and has not registered although the API server is up");
            return;
        }
        if (!instance.isAlive()) {
            String fate = context.driver().fate();
            context.driver().restarted();
            throw new Violation(
                    "the driver was started without an API server: %s; a kubelet can't unprepare claims until there is one",
                    fate);
        }
    }

    /** The time limit of an operation here: its undisturbed time with a margin. */
    private Duration limit(Duration usual) {
        Duration more = usual.multipliedBy(3).plus(context.timeouts().times(SOME));
        return more.compareTo(Timeouts.PREPARE) < 0 ? more : Timeouts.PREPARE;
    }

    private static Duration timed(Runnable work) {
        long begin = System.nanoTime();
        work.run();
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    private void succeeds(Duration limit, String what, Supplier<CallResult> work) {
        Measurements.Wait wait = context.measurements().begin(measuredAs(what), limit);
        CompletableFuture<CallResult> call = Calls.async(work);
        try {
            CallResult result = call.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            wait.end(true);
            good(result, what);
        } catch (TimeoutException e) {
            wait.end(false);
            throw new Violation(what + " is not answered within " + limit.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** The subject of a sentence as a name: "an unprepare, while …," is "unprepare, while …". */
    private static String measuredAs(String subject) {
        return subject.replaceFirst("^(a|an|the) ", "").replaceFirst(",$", "");
    }

    private void good(CallResult result, String what) {
        result.complaint().ifPresent(complaint -> {
            throw failed("%s failed: %s", what, complaint);
        });
    }

    /** Reports a driver that has ended during the API server's faults only as not surviving them. */
    private Violation failed(String message, Object... arguments) {
        Violation failed = new Violation(message, arguments);
        boolean ended = context.driver().current().awaitExit(SHORT).isPresent();
        return ended ? failed.about("DRA-SLICE-13", "DRA-SLICE-14") : failed;
    }

    @Rule("DRA-PREP-31")
    void aPrepareThatWasGivenUpSucceedsLater() {
        KubeletClaim claim =
                preparedAfter(limit -> Fault.delay(limit.multipliedBy(9)), "a prepare that an earlier caller gave up");
        context.calls().unprepared(claim);
    }

    /** Prepares a claim while its reads have a fault, and again after that, which must succeed. */
    private KubeletClaim preparedAfter(Function<Duration, Fault> fault, String what) {
        PublishedDevice device = context.devices().one();
        Duration limit = limitOf(device);
        KubeletClaim claim = context.claims().allocate(device);
        Injection broken = context.inject(fault.apply(limit).on(HeldPrepare.readsOf(claim)));
        CallResult failed = context.calls().prepareWithin(SHORT, claim);
        broken.close();
        NotApplicable.unless(failed.complaint().isPresent(), "the driver prepares a claim without reading its object");
        eventually(claim, limit, what);
        return claim;
    }

    /** The time limit of a prepare, by one that nothing disturbs. */
    private Duration limitOf(PublishedDevice device) {
        KubeletClaim first = context.claims().allocate(device);
        Duration limit = limit(timed(() -> context.calls().prepared(first)));
        context.calls().unprepared(first);
        return limit;
    }

    /** Repeats a prepare as a kubelet does, until it succeeds or the time is up. */
    private void eventually(KubeletClaim claim, Duration limit, String what) {
        long end = System.nanoTime() + context.timeouts().soon().toNanos();
        CallResult result = context.calls().prepareWithin(limit, claim);
        while (result.complaint().isPresent() && System.nanoTime() < end) {
            result = context.calls().prepareWithin(limit, claim);
        }
        good(result, what);
    }

    @Rule("DRA-PREP-32")
    void aClaimThatWaitsDelaysNoOther() {
        List<PublishedDevice> two = context.devices().some(2);
        KubeletClaim other = context.claims().allocate(two.get(1));
        Duration limit = limit(timed(() -> {
            context.calls().prepared(other);
            context.calls().unprepared(other);
        }));
        KubeletClaim slow = context.claims().allocate(two.get(0));
        try (HeldPrepare held = HeldPrepare.ofReads(context, slow)) {
            String meanwhile = " of a claim, while another's waits for the API server,";
            succeeds(limit, "the prepare" + meanwhile, () -> context.calls().prepare(other));
            succeeds(limit, "the unprepare" + meanwhile, () -> context.calls().unprepare(other));
            context.transcript().note("the first still waits: " + held.isWaiting());
        }
    }

    @Rule("DRA-PREP-33")
    void aPrepareNeedsNoPublishing() {
        PublishedDevice device = context.devices().one();
        Duration limit = limitOf(device);
        Predicate<RecordedRequest> slices = Requests.to("resourceslices");
        int before = context.proxy().lastNumber();
        Injection broken = context.inject(Fault.status(403, "Forbidden").on(slices));
        if (context.driver().adapter().controlsProcess()) {
            context.driver().restartAfterKill();
        } else {
            context.proxy().cutWatches();
        }
        CallResult result =
                context.calls().prepareWithin(limit, context.claims().allocate(device));
        context.transcript()
                .note("requests for slices that were refused: "
                        + context.proxy()
                                .requests(slices.and(Requests.after(before)))
                                .size());
        broken.close();
        good(result, "a prepare, while the driver may not publish its devices,");
        context.awaitPools();
    }

    @Rule("DRA-PREP-34")
    void afterServerErrorsAPrepareSucceeds() {
        Untested.unless(
                context.detected().contains("api"), "the driver's requests do not come through the suite's proxy");
        preparedAfter(
                limit -> Fault.status(500, "InternalError"), "the prepare of a claim whose read had failed before");
    }

    /** A driver that fails gets another test context; the others have trusted the new CA. */
    @Rule("DRA-PREP-39")
    void aReplacedAuthorityIsTrusted() throws IOException {
        NotApplicable.unless(
                Files.exists(context.place().serviceAccount()), "the suite gave the driver no file with the CA");
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Duration limit = context.timeouts().repair();
        int number = context.proxy().lastNumber();
        Measurements.Wait wait = context.measurements().begin("time until a replaced CA was trusted", limit);
        replaceAuthority();
        Optional<String> complaint = context.calls().prepareUntil(claim, limit).complaint();
        wait.end(complaint.isEmpty());
        Violation.ifPresent(
                complaint,
                "the CA of the API server was replaced, including in the driver's files, but %d s later a claim is still not prepared: %s",
                limit.toSeconds());
        NotApplicable.unless(
                context.proxy().requests(HeldPrepare.readsOf(claim)).stream().anyMatch(Requests.after(number)),
                "the driver prepares a claim without reading its object");
    }

    /** Replaces the CA as a cluster does: the service account has the new one, which new connections need. */
    private void replaceAuthority() throws IOException {
        Path account = context.place().serviceAccount();
        context.transcript().note("the CA of the API server is replaced");
        context.proxy().replaceAuthority();
        context.proxy().writeServiceAccount(account, Files.readString(account.resolve("namespace")));
        context.proxy().closeConnections();
    }

    @Rule("DRA-UNP-05")
    void anUnprepareDoesNotWaitForTheApiServer() {
        Leftovers leftovers = Leftovers.since(context);
        PublishedDevice device = context.devices().one();
        KubeletClaim claim = context.preparedClaim(device);
        Duration usual = timed(() -> context.calls().unprepared(claim));
        KubeletClaim next = context.preparedClaim(device);
        Injection hung = context.inject(Fault.delay(Duration.ofMinutes(10)));
        try {
            String what = "an unprepare, while the API server does not answer,";
            succeeds(limit(usual), what, () -> context.calls().unprepare(next));
        } finally {
            hung.close();
        }
        leftovers.none("after an unprepare while the API server does not answer");
        KubeletClaim last = context.preparedClaim(device);
        context.proxy().down();
        try {
            String what = "an unprepare, while the API server is away,";
            succeeds(limit(usual), what, () -> context.calls().unprepare(last));
        } finally {
            context.proxy().up();
        }
        leftovers.none("after an unprepare while the API server is away");
    }

    @Rule("DRA-UNP-11")
    void aPrepareThatWaitsBlocksNoUnprepare() {
        List<PublishedDevice> two = context.devices().some(2);
        KubeletClaim first = context.preparedClaim(two.get(1));
        Duration limit = limit(timed(() -> context.calls().unprepared(first)));
        KubeletClaim other = context.preparedClaim(two.get(1));
        KubeletClaim slow = context.claims().allocate(two.get(0));
        try (HeldPrepare held = HeldPrepare.ofReads(context, slow)) {
            String what = "an unprepare, while the prepare of another claim waits,";
            succeeds(limit, what, () -> context.calls().unprepare(other));
            context.transcript().note("the prepare still waits: " + held.isWaiting());
        }
    }

    @Rule("DRA-UNP-12")
    void leftoversAreAnError() throws IOException {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Leftovers leftovers = Leftovers.since(context);
        ClaimResult answer = context.calls().prepared(claim);
        List<Path> specs = new ArrayList<>();
        for (String id : CdiView.ids(answer)) {
            specs.add(context.cdi().path(context.cdi().resolve(id).file()));
        }
        CallResult result;
        boolean left;
        try (ReadOnlyDirectories directories = blocked(context.cdi().folders(), specs)) {
            context.transcript().note("writes are prevented by " + directories);
            result = context.calls().unprepare(claim);
            left = result.complaint().isEmpty() && specs.stream().anyMatch(Files::exists);
        }
        boolean claims = left && !unchanged(leftovers);
        Violation.unless(!claims)
                .because(
                        "Unprepare of claim %s succeeded while the CDI directory was read-only, but its spec %s is still there",
                        claim.uid(), specs);
        context.calls().unprepared(claim);
        leftovers.none(
                "after a failed Unprepare of claim %s and a retry on a writable CDI directory".formatted(claim.uid()));
    }

    private ReadOnlyDirectories blocked(List<Path> folders, List<Path> files) {
        List<Path> present = folders.stream().filter(Files::isDirectory).toList();
        context.transcript().note(present + " read-only from here on");
        return ReadOnlyDirectories.of(
                context, present, files.stream().distinct().toList());
    }

    /** Specs for all claims may stay. */
    private static boolean unchanged(Leftovers leftovers) {
        try {
            leftovers.none("now");
            return true;
        } catch (Violation e) {
            return false;
        }
    }

    @Rule("DRA-RST-07")
    void whatCantBeWrittenFails() throws IOException {
        PublishedDevice device = context.devices().one();
        boolean tried = withoutCdi(device) | withoutState(device);
        NotApplicable.unless(tried, "the driver writes no CDI specs, and the settings name no state files");
    }

    private boolean withoutCdi(PublishedDevice device) {
        KubeletClaim claim = context.claims().allocate(device);
        Leftovers leftovers = Leftovers.since(context);
        CallResult result;
        try (ReadOnlyDirectories directories = blocked(context.cdi().folders(), List.of())) {
            context.transcript().note("writes are prevented by " + directories);
            result = context.calls().prepare(claim);
        }
        ClaimResult answer = result.results().get(claim.uid());
        if (result.complaint().isEmpty() && answer != null) {
            for (String id : CdiView.ids(answer)) {
                Violation.unless(!context.cdi().find(id).isEmpty())
                        .about("DRA-CDI-02")
                        .because(
                                "Prepare of claim %s succeeded while the CDI directory was read-only, but its id %s resolves to nothing",
                                claim.uid(), id);
            }
        }
        worksAgain(claim, leftovers, "the CDI directory");
        return answer == null || !CdiView.ids(answer).isEmpty();
    }

    private boolean withoutState(PublishedDevice device) throws IOException {
        if (context.settings().driver().stateFiles().isEmpty()) {
            return false;
        }
        KubeletClaim claim = context.claims().allocate(device);
        Leftovers leftovers = Leftovers.since(context);
        StateFiles files = StateFiles.of(context);
        CallResult result;
        try (ReadOnlyDirectories directories =
                blocked(List.of(files.paths().get(0).getParent()), files.paths())) {
            context.transcript().note("writes are prevented by " + directories);
            result = context.calls().prepare(claim);
        }
        Violation.unless(result.complaint().isPresent() || !files.areUnchanged())
                .because(
                        "Prepare of claim %s succeeded while the state files %s were read-only, but they do not record it",
                        claim.uid(), files.paths());
        worksAgain(claim, leftovers, "the directory of the state");
        return true;
    }

    private void worksAgain(KubeletClaim claim, Leftovers leftovers, String place) {
        context.calls()
                .prepared(claim, "Prepare of claim %s fails although %s is writable again: %s", claim.uid(), place);
        context.calls().unprepared(claim);
        leftovers.none(
                "after a Prepare of claim %s while %s was read-only, and Unprepare".formatted(claim.uid(), place));
    }
}
