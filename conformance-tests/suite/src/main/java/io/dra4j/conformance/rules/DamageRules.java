// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Held;
import io.dra4j.conformance.probes.StateFiles;
import io.dra4j.conformance.probes.StateFiles.Damage;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.kubelet.CallResult;
import java.io.IOException;
import java.time.Duration;

/** Rules for a driver whose state files are damaged. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record DamageRules(TestContext context) {

    private static final Duration MOMENT = Duration.ofSeconds(1);

    @Rule("DRA-RST-06")
    void noClaimIsForgottenInSilence() throws IOException {
        for (Damage damage : Damage.values()) {
            survives(damage);
        }
    }

    private void survives(Damage damage) throws IOException {
        Held held = Held.prepared(context);
        context.driver().kill();
        StateFiles files = StateFiles.of(context);
        String after = "after the state file " + damage.words();
        context.transcript().note(after + ": " + files.paths());
        files.damage(damage);
        if (starts()) {
            answers(held, after);
        }
        repair(held, files);
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
        held.isRemembered(after);
        context.calls().prepare(held.claim());
        CallResult result = context.calls().unprepare(held.claim());
        boolean done = result.complaint().isEmpty();
        boolean answered = result.status().equals(CallResult.OK);
        Violation.unless(answered || context.driver().current().awaitExit(MOMENT).isEmpty())
                .because(
                        "%s, the driver ended when it was called: %s",
                        after, context.driver().fate());
        if (done) {
            Violation.unless(!context.files().contains(held.claim().uid()))
                    .because(
                            "%s, Unprepare of claim %s succeeded, but its CDI spec is still there",
                            after, held.claim().uid());
        }
    }

    /** Lets the driver go on, with its memory as it was if it could not do without. */
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
}
