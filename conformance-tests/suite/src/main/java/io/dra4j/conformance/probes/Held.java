// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;

/**
 * A claim that is prepared before something happens to the driver, and has to stay prepared.
 *
 * <p>The best sign that a driver remembers a claim is that it refuses the claim's device to others, if it ever does.
 */
public record Held(
        TestContext context,
        PublishedDevice device,
        KubeletClaim claim,
        ClaimResult answer,
        List<String> resolving,
        boolean guarded) {

    /** Prepares a claim, after checking how the driver handles two claims for one device. */
    public static Held prepared(TestContext context) {
        PublishedDevice device = context.devices().one();
        boolean guarded = isGuarded(context, device);
        KubeletClaim claim = context.claims().allocate(device);
        ClaimResult answer = context.calls().prepared(claim);
        List<String> resolving =
                CdiView.ids(answer).stream().filter(context.cdi()::resolves).toList();
        return new Held(context, device, claim, answer, resolving, guarded);
    }

    private static boolean isGuarded(TestContext context, PublishedDevice device) {
        if (device.isShared()) {
            return false;
        }
        KubeletClaim first = context.preparedClaim(device);
        // only now: a driver that has lost its memory treats each claim that it finds as held
        KubeletClaim second = context.claims().allocate(device);
        boolean refused = context.calls().prepare(second).complaint().isPresent();
        end(context, first);
        end(context, second);
        return refused;
    }

    /** Asserts that its specs still exist. */
    public void resolves(String after) {
        for (String id : resolving) {
            Violation.unless(context.cdi().resolves(id))
                    .because("%s, the CDI id %s of the prepared claim %s no longer resolves", after, id, claim.uid());
        }
    }

    /** Asserts that no other claim gets its device. */
    public void isRemembered(String after) {
        if (!guarded) {
            return;
        }
        KubeletClaim thief = context.claims().allocate(device);
        Violation.unless(context.calls().prepare(thief).complaint().isPresent())
                .because(
                        "%s, the device %s of the prepared claim %s was given to claim %s: the driver has forgotten its holder",
                        after, device, claim.uid(), thief.uid());
        context.calls().unprepare(thief); // a driver that fails closed may also refuse this
        context.claims().deleteObject(thief);
    }

    /** Prepares it again, and asserts the same result. */
    public void repeats(String after) {
        Reported before = Reported.of(answer);
        ClaimResult second =
                context.calls().prepared(claim, "%s, a repeated Prepare of claim %s failed: %s", after, claim.uid());
        Reported again = Reported.of(second);
        Violation.unless(again.equals(before))
                .about("DRA-PREP-05")
                .because(
                        "%s, a repeated Prepare of claim %s was answered %s, but %s before",
                        after, claim.uid(), again, before);
        resolves(after + " and a repeated Prepare");
    }

    /** Unprepares it, and asserts that its device is free. */
    public void isReleased(String after) {
        ends();
        KubeletClaim next = context.claims().allocate(device);
        context.calls()
                .prepared(
                        next,
                        "%s, and Unprepare of claim %s, its device %s was refused to another claim: %s",
                        after,
                        claim.uid(),
                        device);
        end(context, next);
    }

    /** Unprepares it, and deletes it. */
    public void ends() {
        end(context, claim);
    }

    /** Unprepares a claim and deletes it, because a driver may ask the API server for holders of a device. */
    public static void end(TestContext context, KubeletClaim over) {
        context.calls().unprepared(over);
        context.claims().deleteObject(over);
    }
}
