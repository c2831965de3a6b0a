// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.rules.StateFiles.Damage;
import io.dra4j.testkit.driver.DriverTrouble;
import io.dra4j.testkit.kubelet.CallResult;
import java.io.IOException;
import java.time.Duration;

/** What a driver makes of a damaged memory. */
@Lane.On(Lane.RESTARTS)
final class DamageRules {

    private static final Duration MOMENT = Duration.ofSeconds(1);

    private final Bench bench;

    DamageRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-RST-06")
    void noClaimIsForgottenInSilence() throws IOException {
        for (Damage damage : Damage.values()) {
            survives(damage);
        }
    }

    private void survives(Damage damage) throws IOException {
        Held held = Held.prepared(bench);
        bench.driver().kill();
        StateFiles files = StateFiles.of(bench);
        String after = "after the state file " + damage.words();
        bench.transcript().note(after + ": " + files.paths());
        files.damage(damage);
        if (starts()) {
            answers(held, after);
        }
        mend(held, files);
    }

    /** A driver may refuse to start with a damaged state, and say so. */
    private boolean starts() {
        try {
            bench.driver().start();
            return true;
        } catch (DriverTrouble e) {
            bench.transcript().note("it does not start: " + e.getMessage());
            return false;
        }
    }

    private void answers(Held held, String after) {
        held.isRemembered(after);
        bench.calls().prepare(held.claim());
        CallResult result = bench.calls().unprepare(held.claim());
        boolean done = result.complaint().isEmpty();
        boolean answered = result.status().equals(CallResult.OK);
        Violation.unless(
                answered || bench.driver().current().awaitExit(MOMENT).isEmpty(),
                "%s, the driver ended when it was called: %s",
                after,
                bench.driver().fate());
        if (done) {
            Violation.unless(
                    !bench.files().contains(held.claim().uid()),
                    "%s, Unprepare of claim %s succeeded, but its CDI spec is still there",
                    after,
                    held.claim().uid());
        }
    }

    /** Lets the driver go on, with its memory as it was if it could not do without. */
    private void mend(Held held, StateFiles files) throws IOException {
        if (bench.driver().current().isAlive()
                && bench.calls().unprepare(held.claim()).complaint().isEmpty()
                && bench.calls().prepare(held.claim()).complaint().isEmpty()) {
            held.ends();
            return;
        }
        bench.driver().kill();
        files.restore();
        bench.driver().restarted();
        held.ends();
    }
}
