// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;

/**
 * A claim that is prepared before something happens to the driver, and has to be so afterwards.
 *
 * <p>Whether a driver remembers a claim shows best in that it refuses the claim's device to others,
 * if it does so at all.
 */
final class Held {

    private final Bench bench;
    private final PublishedDevice device;
    private final KubeletClaim claim;
    private final ClaimAnswer answer;
    private final boolean guarded;

    private Held(Bench bench, PublishedDevice device) {
        this.bench = bench;
        this.device = device;
        guarded = isGuarded();
        claim = bench.claims().allocate(device);
        answer = bench.calls().prepared(claim);
    }

    /** Prepares a claim, after a look at what the driver does with two claims of one device. */
    static Held prepared(Bench bench) {
        return new Held(bench, bench.devices().one());
    }

    private boolean isGuarded() {
        if (device.isShared()) {
            return false;
        }
        KubeletClaim first = bench.claims().allocate(device);
        bench.calls().prepared(first);
        // only now: a driver that has lost its memory takes each claim that it finds for held
        KubeletClaim second = bench.claims().allocate(device);
        boolean refused = bench.calls().prepare(second).complaint().isPresent();
        end(first);
        end(second);
        return refused;
    }

    KubeletClaim claim() {
        return claim;
    }

    PublishedDevice device() {
        return device;
    }

    /** Finds its specs. */
    void resolves(String after) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(
                    bench.cdi().find(id).size() == 1,
                    "%s, the CDI id %s of the prepared claim %s no longer resolves",
                    after,
                    id,
                    claim.uid());
        }
    }

    /** Finds that nobody else gets its device. */
    void isRemembered(String after) {
        if (!guarded) {
            return;
        }
        KubeletClaim thief = bench.claims().allocate(device);
        Violation.unless(
                bench.calls().prepare(thief).complaint().isPresent(),
                "%s, the device %s of the prepared claim %s was given to claim %s: the driver has"
                        + " forgotten who has it",
                after,
                device,
                claim.uid(),
                thief.uid());
        bench.calls().unprepare(thief); // a driver that fails closed may refuse this, too
        bench.claims().deleteObject(thief);
    }

    /** Prepares it again, and finds the same. */
    void repeats(String after) {
        Reported before = Reported.of(answer);
        CallResult result = bench.calls().prepare(claim);
        result.complaint()
                .ifPresent(
                        complaint -> {
                            throw new Violation(
                                    "%s, a repeated Prepare of claim %s failed: %s"
                                            .formatted(after, claim.uid(), complaint));
                        });
        Reported again = Reported.of(result.answers().get(claim.uid()));
        Violation.unless(
                again.equals(before),
                "%s, a repeated Prepare of claim %s was answered %s, before it was %s",
                after,
                claim.uid(),
                again,
                before);
        resolves(after + " and a repeated Prepare");
    }

    /** Unprepares it, and finds its device free. */
    void isReleased(String after) {
        end(claim);
        KubeletClaim next = bench.claims().allocate(device);
        bench.calls()
                .prepare(next)
                .complaint()
                .ifPresent(
                        complaint -> {
                            throw new Violation(
                                    "%s, and Unprepare of claim %s, its device %s was refused to"
                                                    .formatted(after, claim.uid(), device)
                                            + " another claim: "
                                            + complaint);
                        });
        end(next);
    }

    /** Unprepares it, and deletes it. */
    void ends() {
        end(claim);
    }

    /** Whoever ends a claim deletes it: a driver may ask the API server who could have a device. */
    private void end(KubeletClaim over) {
        bench.calls().unprepared(over);
        bench.claims().deleteObject(over);
    }
}
