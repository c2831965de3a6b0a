// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Rounds;
import io.dra4j.conformance.probes.Soak;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Rules for a driver that is killed in the middle of its work. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record KillRules(TestContext context) {

    private static final int ROUNDS = 20;
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(40);
    private static final Duration SOAK = Duration.ofMinutes(5);

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
                leftovers = Leftovers.since(context); // a claim that was answered is DRA-UNP-06's
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
            if (key != null && key.pollEvents().stream().anyMatch(e -> isSpec(e.context()))) {
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

    private static boolean isSpec(Object name) {
        return name.toString().endsWith(".json") || name.toString().endsWith(".yaml");
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
