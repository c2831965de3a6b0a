// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Globs;
import io.dra4j.conformance.probes.Held;
import io.dra4j.conformance.probes.HeldPrepare;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Reboot;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.probes.Rounds;
import io.dra4j.conformance.probes.Soak;
import io.dra4j.conformance.probes.StateFiles;
import io.dra4j.conformance.probes.StateFiles.Damage;
import io.dra4j.conformance.settings.TestedDriver;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Rules for restarts and kills of the driver, restarts of the kubelet and the node, and for damaged state files. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record RestartRules(TestContext context) {

    private static final int ROUNDS = 20;
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(40);
    private static final Duration SOAK = Duration.ofMinutes(5);
    private static final Duration MOMENT = Duration.ofSeconds(1);
    private static final String KILLED = "after a SIGKILL and a new start";

    @Rule("DRA-UNP-06")
    void aNewProcessUnpreparesWhatTheOldOnePrepared() {
        PublishedDevice device = context.devices().one();
        Leftovers leftovers = Leftovers.since(context);
        KubeletClaim first = context.preparedClaim(device);
        context.driver().restart();
        context.calls().unprepared(first);
        leftovers.none("after a graceful restart and Unprepare of claim " + first.uid());
        KubeletClaim second = context.preparedClaim(device);
        context.driver().restartAfterKill();
        context.calls().unprepared(second);
        leftovers.none(KILLED + ", and Unprepare of claim " + second.uid());
    }

    @Rule("DRA-RST-01")
    void anAnsweredPrepareOutlivesAKill() {
        Held held = Held.prepared(context);
        context.driver().restartAfterKill();
        held.resolves(KILLED);
        held.isRemembered(KILLED);
        held.repeats(KILLED);
        held.isReleased(KILLED);
    }

    @Rule("DRA-RST-02")
    void aPrepareThatHadNotBegunLeavesNothing() {
        List<PublishedDevice> usable = context.devices().upTo(2);
        KubeletClaim again = context.claims().allocate(usable.get(0));
        KubeletClaim gone = context.claims().allocate(usable.get(usable.size() - 1));
        Leftovers leftovers = Leftovers.since(context);
        for (KubeletClaim claim : usable.size() > 1 ? List.of(again, gone) : List.of(again)) {
            HeldPrepare call = HeldPrepare.of(context, claim)
                    .orElseThrow(() -> new NotApplicable("the driver does not read the claim when it prepares it"));
            context.driver().kill();
            call.release();
            context.driver().restarted();
            if (claim == again) {
                context.calls().prepared(claim);
            }
            context.calls().unprepared(claim);
            leftovers.none(
                    "after a SIGKILL while the driver waited for claim %s, and Unprepare".formatted(claim.uid()));
        }
    }

    @Rule("DRA-RST-04")
    void aNewKubeletIsAnsweredTheSame() throws InterruptedException {
        Held held = Held.prepared(context);
        context.restartKubelet();
        String after = "after a restart of the kubelet";
        held.isRemembered(after);
        held.repeats(after);
        held.isReleased(after);
    }

    @Rule("DRA-RST-12")
    void aClaimThatTheKubeletForgotHoldsNothing() throws IOException, InterruptedException {
        PublishedDevice device = context.devices().one();
        try (LostKubeletState lost = new LostKubeletState(context)) {
            isFreed(device, lost, "deallocated", context.claims()::deallocate);
            isFreed(device, lost, "deleted", context.claims()::deleteObject);
        }
    }

    private void isFreed(PublishedDevice device, LostKubeletState state, String how, Consumer<KubeletClaim> end)
            throws IOException, InterruptedException {
        KubeletClaim forgotten = context.preparedClaim(device);
        state.lose();
        context.restartKubelet();
        end.accept(forgotten);
        Duration limit = context.timeouts().repair();
        KubeletClaim next = context.claims().allocate(device);
        Measurements.Wait wait =
                context.measurements().begin("time until the next claim got the device of one that is " + how, limit);
        Optional<String> complaint = context.calls().prepareUntil(next, limit).complaint();
        wait.end(complaint.isEmpty());
        Untested.unless(
                complaint.isEmpty() || state.isOwn() && state.isSeen(),
                "the driver does not see the file of the kubelet's claims here");
        Violation.ifPresent(
                complaint,
                "the kubelet has lost its state, and claim %s, which it forgot, is %s; %d s later the device %s is still not free: %s",
                forgotten.uid(),
                how,
                limit.toSeconds(),
                device);
        context.calls().unprepared(next);
    }

    @Rule("DRA-RST-05")
    void afterARebootPrepareMakesAllAgain() throws IOException {
        Reboot.require(context);
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        ClaimResult first = context.calls().prepared(claim);
        NotApplicable.unless(!CdiView.ids(first).isEmpty(), "the driver answers without CDI ids");
        Reboot.of(context);
        ClaimResult second = context.calls().prepared(claim);
        Violation.unless(Reported.names(first).equals(Reported.names(second)))
                .because(
                        "after a reboot, Prepare of claim %s reported %s, but %s before",
                        claim.uid(), Reported.names(second), Reported.names(first));
        CdiView.ids(second).forEach(context.cdi()::resolve);
        context.calls().unprepared(claim);
    }

    @Rule("DRA-RST-09")
    void afterARebootTheDeviceOfALostClaimIsFree() throws IOException {
        Reboot.require(context);
        PublishedDevice device = context.devices().one();
        KubeletClaim lost = context.preparedClaim(device);
        context.claims().deleteObject(lost);
        Reboot.of(context);
        KubeletClaim next = context.claims().allocate(device);
        context.calls()
                .prepared(
                        next,
                        "after a reboot, the device %s is still taken by claim %s, which is deleted: %s",
                        device,
                        lost.uid());
    }

    @Rule("DRA-RST-13")
    void whatChangesNothingLeavesNothingWhenThePowerFails() throws IOException {
        PublishedDevice device = context.devices().one();
        Leftovers leftovers = Leftovers.since(context);
        List<Path> before = filesOfDriver();
        KubeletClaim claim = context.preparedClaim(device);
        NotApplicable.unless(
                context.driver().adapter().changesNothing(claim.uid()),
                "no provider in the suite's JVM says that it changes nothing for the claim");
        context.driver().kill();
        for (Path file : filesOfDriver()) {
            if (file.getFileName().toString().startsWith("claims.")) { // the SDK's records
                Files.delete(file);
            }
        }
        Reboot.of(context);
        String after = "after a power failure that undid claim %s, for which the provider says that it changes nothing"
                .formatted(claim.uid());
        leftovers.none(after);
        for (Path file : filesOfDriver()) {
            boolean isOf = Files.readString(file, StandardCharsets.ISO_8859_1).contains(claim.uid());
            Violation.unless(before.contains(file) && !isOf)
                    .because("%s, %s is left in the driver's directory", after, file);
        }
        KubeletClaim next = context.claims().allocate(device);
        context.calls().prepared(next, "%s, the device %s can't be prepared: %s", after, device);
    }

    /** Ignores reports in the statuses of claims: they are the SDK's, and end later. */
    private List<Path> filesOfDriver() {
        Path directory = context.place().plugins().resolve(context.place().driver());
        return Globs.below(directory).stream()
                .filter(file -> Files.isRegularFile(file) && !file.startsWith(directory.resolve("reports")))
                .toList();
    }

    @Rule("DRA-RST-08")
    void theStateOfTheReleaseBeforeIsRead() {
        TestedDriver settings = context.settings().driver();
        Untested.unless(settings.process() != null, "the suite does not run the driver's process");
        Leftovers leftovers = Leftovers.since(context);
        context.driver().terminate();
        int before = context.kubelet().events().size();
        Instance old = context.driver()
                .launch(
                        new ProcessDriver(
                                settings.hooks().get("old"),
                                settings.process().environment(),
                                context.driver().adapter().startTimeout()),
                        context.place(),
                        Map.of());
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        try {
            context.driver().awaitRegistered(old, before);
            context.calls().prepared(claim);
            old.terminate();
            old.awaitExit(context.timeouts().change());
        } finally {
            if (old.isAlive()) {
                old.kill();
            }
        }
        context.driver().restarted();
        context.calls().unprepared(claim);
        leftovers.none(
                "after the previous release prepared claim %s, and this one unprepared it".formatted(claim.uid()));
    }

    @Rule("DRA-RST-06")
    void noClaimIsForgottenInSilence() throws IOException {
        for (Damage damage : Damage.values()) {
            survives(damage);
        }
    }

    private void survives(Damage damage) throws IOException {
        Held held = Held.prepared(context);
        Optional<KubeletClaim> other =
                context.devices().upTo(2).stream().skip(1).findFirst().map(context::preparedClaim);
        context.driver().kill();
        StateFiles files = StateFiles.of(context);
        String after = "after the state file " + damage.words();
        context.transcript().note(after + ": " + files.paths());
        Opened damaged = context.change(() -> files.damage(damage), () -> {
            if (!context.driver().isAlive()) { // one that runs has accepted the damage
                files.repair(damage);
            }
        });
        if (starts()) {
            held.isRemembered(after);
            other.ifPresent(claim -> unprepared(claim, context.calls().unprepare(claim), after));
            answers(held, after);
        }
        repair(held, files);
        damaged.close();
        other.ifPresent(claim -> Held.end(context, claim));
    }

    /** Unprepares a claim, which may be refused; a success leaves no spec. */
    private void unprepared(KubeletClaim claim, CallResult result, String after) {
        Violation.unless(result.complaint().isPresent() || !context.files().contains(claim.uid()))
                .about("DRA-CDI-06", "DRA-CDI-12")
                .because("%s, Unprepare of claim %s succeeded, but its CDI spec is still there", after, claim.uid());
    }

    /** A driver may refuse to start with a damaged state, and log it. */
    private boolean starts() {
        try {
            context.driver().start();
            return true;
        } catch (DriverUnusable e) {
            context.transcript().note("it does not start: " + e.getMessage());
            return false;
        }
    }

    private void answers(Held held, String after) {
        context.calls().prepare(held.claim());
        CallResult result = context.calls().unprepare(held.claim());
        boolean answered = result.status().equals(CallResult.OK);
        Violation.unless(
                        answered || context.driver().current().awaitExit(MOMENT).isEmpty())
                .because(
                        "%s, the driver ended when it was called: %s",
                        after, context.driver().fate());
        unprepared(held.claim(), result, after);
    }

    /** Lets the driver continue, with its state restored if it needs that. */
    private void repair(Held held, StateFiles files) throws IOException {
        if (context.driver().current().isAlive()
                && context.calls().unprepare(held.claim()).complaint().isEmpty()
                && context.calls().prepare(held.claim()).complaint().isEmpty()) {
            held.ends();
            return;
        }
        context.driver().kill();
        files.restore();
        context.driver().restarted();
        held.ends();
    }

    /**
     * The file in which a kubelet keeps its claims, as it is once the kubelet has lost its state and
     * has started again: it is intact, and no claim is in it.
     *
     * <p>Only in the run's own directories. A driver with hard-wired directories may find them by mounts, and then does
     * not see the file, as in most pods.
     */
    private record LostKubeletState(KubeletStateFile file, boolean isOwn, boolean isSeen) implements AutoCloseable {

        private static final Path IN_PODS = Path.of("/var/lib/kubelet/plugins");

        public LostKubeletState(TestContext context) {
            this(
                    KubeletStateFile.of(context.place().plugins()),
                    context.place().plugins().startsWith(context.place().root()),
                    context.place().outside(IN_PODS).equals(IN_PODS));
        }

        public void lose() {
            if (isOwn) {
                file.write();
            }
        }

        @Override
        public void close() throws IOException {
            if (isOwn) {
                Files.deleteIfExists(file.path());
            }
        }
    }

    @Rule("DRA-RST-03")
    void unprepareAloneUndoesHalfAPrepare() throws IOException, InterruptedException {
        PublishedDevice device = context.devices().one();
        Leftovers leftovers = Leftovers.since(context);
        Rounds rounds = new Rounds(ROUNDS, context.settings().soak() ? SOAK : LONG_ENOUGH);
        int hits = 0;
        while (rounds.next()) {
            KubeletClaim claim = context.claims().allocate(device);
            boolean isHit = killedAtItsSpec(claim);
            context.driver().restarted();
            context.calls().unprepared(claim);
            if (isHit) {
                hits++;
                leftovers.none(
                        "after a SIGKILL when the CDI spec of claim %s appeared, and Unprepare in a new process (window hit %d/%d)"
                                .formatted(claim.uid(), hits, rounds.done()));
                isFree(device, claim);
            } else {
                leftovers = Leftovers.since(context); // a claim whose Prepare was answered is the subject of DRA-UNP-06
            }
        }
        Untested.unless(hits > 0, "in %d rounds, each Prepare was answered before the SIGKILL", rounds.done());
        context.remark("window hit %d/%d".formatted(hits, rounds.done()));
    }

    /** Returns whether the answer was still missing when the spec was there, and the driver killed. */
    private boolean killedAtItsSpec(KubeletClaim claim) throws IOException, InterruptedException {
        try (WatchService watch = FileSystems.getDefault().newWatchService()) {
            for (Path folder : context.cdi().folders()) {
                if (Files.isDirectory(folder)) {
                    folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
                }
            }
            CompletableFuture<CallResult> call =
                    Calls.async(() -> context.calls().prepare(claim));
            boolean seen = seesSpec(watch, call);
            context.driver().kill();
            CallResult result = call.join();
            NotApplicable.unless(seen || result.complaint().isPresent(), "no CDI spec appears with a claim");
            return seen && result.complaint().isPresent();
        }
    }

    private static boolean seesSpec(WatchService watch, CompletableFuture<CallResult> call)
            throws InterruptedException {
        boolean over = false;
        while (true) {
            WatchKey key = watch.poll(over ? 200 : 20, TimeUnit.MILLISECONDS);
            if (key != null
                    && key.pollEvents().stream()
                            .anyMatch(e -> CdiView.isSpec(e.context().toString()))) {
                return true;
            }
            if (key != null) {
                key.reset();
            } else if (over) {
                return false;
            }
            over = call.isDone();
        }
    }

    private void isFree(PublishedDevice device, KubeletClaim killed) {
        KubeletClaim next = context.claims().allocate(device);
        context.calls()
                .prepared(
                        next,
                        "the device %s is not free after the killed Prepare of claim %s was undone: %s",
                        device,
                        killed.uid());
        context.calls().unprepared(next);
    }

    @Rule("DRA-RST-10")
    void nothingIsLeftInAnyOrder() throws Exception {
        Leftovers leftovers = Leftovers.since(context);
        Soak soak = new Soak(context);
        for (int step = 1; step <= Soak.STEPS; step++) {
            soak.step(step);
        }
        soak.unprepareAll();
        leftovers.none("after %s, and Unprepare of all claims".formatted(soak));
        for (PublishedDevice device : soak.devices()) {
            KubeletClaim claim = context.claims().allocate(device);
            context.calls().prepared(claim, "after %s, the device %s can't be prepared: %s", soak, device);
            context.calls().unprepared(claim);
        }
    }
}
