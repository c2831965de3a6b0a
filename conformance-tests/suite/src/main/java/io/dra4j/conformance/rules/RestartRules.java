// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Untested;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.settings.DriverSettings;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** What outlives the end of a driver's process, of the kubelet's, and of the node's uptime. */
@Lane.On(Lane.RESTARTS)
final class RestartRules {

    private static final String KILLED = "after a SIGKILL and a new start";

    private final Bench bench;

    RestartRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-UNP-06")
    void aNewProcessUnpreparesWhatTheOldOnePrepared() {
        PublishedDevice device = bench.devices().one();
        Leftovers leftovers = Leftovers.since(bench);
        KubeletClaim first = bench.claims().allocate(device);
        bench.calls().prepared(first);
        bench.driver().restart();
        bench.calls().unprepared(first);
        leftovers.none("after a graceful restart and Unprepare of claim " + first.uid());
        KubeletClaim second = bench.claims().allocate(device);
        bench.calls().prepared(second);
        bench.driver().restartAfterKill();
        bench.calls().unprepared(second);
        leftovers.none(KILLED + ", and Unprepare of claim " + second.uid());
    }

    @Rule("DRA-RST-01")
    void anAnsweredPrepareOutlivesAKill() {
        Held held = Held.prepared(bench);
        bench.driver().restartAfterKill();
        held.resolves(KILLED);
        held.isRemembered(KILLED);
        held.repeats(KILLED);
        held.isReleased(KILLED);
    }

    @Rule("DRA-RST-02")
    void aPrepareThatHadNotBegunLeavesNothing() {
        List<PublishedDevice> usable = bench.devices().upTo(2);
        KubeletClaim again = bench.claims().allocate(usable.get(0));
        KubeletClaim gone = bench.claims().allocate(usable.get(usable.size() - 1));
        Leftovers leftovers = Leftovers.since(bench);
        for (KubeletClaim claim : usable.size() > 1 ? List.of(again, gone) : List.of(again)) {
            HeldCall call = HeldCall.prepare(bench, claim);
            bench.driver().kill();
            call.release();
            bench.driver().restarted();
            if (claim == again) {
                bench.calls().prepared(claim);
            }
            bench.calls().unprepared(claim);
            leftovers.none(
                    "after a SIGKILL while the driver waited for claim %s, and Unprepare"
                            .formatted(claim.uid()));
        }
    }

    @Rule("DRA-RST-04")
    void aNewKubeletIsAnsweredTheSame() throws InterruptedException {
        Held held = Held.prepared(bench);
        bench.restartKubelet();
        Violation.unless(
                bench.driver().registersAgain(),
                "a new kubelet could not register the driver: %s",
                bench.kubelet().events());
        String after = "after a restart of the kubelet";
        held.isRemembered(after);
        held.repeats(after);
        held.isReleased(after);
    }

    @Rule("DRA-RST-05")
    void afterARebootPrepareMakesAllAgain() throws IOException {
        Reboot.require(bench);
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        ClaimAnswer first = bench.calls().prepared(claim);
        NotApplicable.unless(!CdiView.ids(first).isEmpty(), "the driver answers without CDI ids");
        Reboot.of(bench);
        ClaimAnswer second = bench.calls().prepared(claim);
        Violation.unless(
                Reported.names(first).equals(Reported.names(second)),
                "after a reboot, Prepare of claim %s reported %s, before it was %s",
                claim.uid(),
                Reported.names(second),
                Reported.names(first));
        CdiView.ids(second).forEach(bench.cdi()::resolve);
        bench.calls().unprepared(claim);
    }

    @Rule("DRA-RST-09")
    void afterARebootTheDeviceOfALostClaimIsFree() throws IOException {
        Reboot.require(bench);
        PublishedDevice device = bench.devices().one();
        KubeletClaim lost = bench.claims().allocate(device);
        bench.calls().prepared(lost);
        bench.claims().deleteObject(lost);
        Reboot.of(bench);
        KubeletClaim next = bench.claims().allocate(device);
        bench.calls()
                .prepare(next)
                .complaint()
                .ifPresent(
                        complaint -> {
                            throw new Violation(
                                    "after a reboot, the device %s is still taken by claim %s,"
                                                    .formatted(device, lost.uid())
                                            + " which is deleted: "
                                            + complaint);
                        });
    }

    @Rule("DRA-RST-08")
    void theStateOfTheReleaseBeforeIsRead() {
        DriverSettings settings = bench.settings().driver();
        Untested.unless(settings.process() != null, "the suite does not run the driver's process");
        Leftovers leftovers = Leftovers.since(bench);
        bench.driver().terminate();
        int before = bench.kubelet().events().size();
        Instance old =
                new ProcessDriver(
                                settings.hooks().get("old"),
                                settings.process().environment(),
                                bench.driver().adapter().startTimeout())
                        .start(bench.place(), Map.of());
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        try {
            bench.driver().awaitRegistered(old, before);
            bench.calls().prepared(claim);
            old.terminate();
            old.awaitExit(bench.patience().change());
        } finally {
            if (old.isAlive()) {
                old.kill();
            }
        }
        bench.driver().restarted();
        bench.calls().unprepared(claim);
        leftovers.none(
                "after the release before prepared claim %s, and this one unprepared it"
                        .formatted(claim.uid()));
    }
}
