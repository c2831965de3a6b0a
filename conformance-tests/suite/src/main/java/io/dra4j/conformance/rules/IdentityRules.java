// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Identities;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;

/** The hardware behind the names of devices, which the hook {@code renumber} permutes. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record IdentityRules(TestContext context) {

    private static final String RENUMBER = "renumber";

    @Rule("DRA-RST-11")
    void aNameDoesNotBecomeOtherHardware() throws InterruptedException {
        Untested.unless(
                context.hooks().has(RENUMBER),
                "the settings have no hook renumber, which permutes the hardware of the names");
        Publishing publishing = new Publishing(context);
        var before = publishing.settled();
        Identities identities = Identities.of(before.devices());
        List<PublishedDevice> known = context.devices().single().stream()
                .filter(identities::has)
                .limit(2)
                .toList();
        Untested.unless(
                known.size() == 2, "no two devices have string attributes that tell one from another, such as a uuid");
        KubeletClaim prepared = context.preparedClaim(known.get(0));
        KubeletClaim allocated = context.claims().allocate(known.get(1));
        renumber();
        try {
            context.awaitPools();
            remains(identities, known.get(0), prepared, "prepared");
            remains(identities, known.get(1), allocated, "allocated");
        } finally {
            end(prepared);
            end(allocated);
            renumber();
        }
        publishing.restored(before, "a second hook renumber", context.timeouts().change());
    }

    private void renumber() {
        context.driver().kill();
        context.hooks().run(RENUMBER);
        context.driver().restarted();
    }

    private void end(KubeletClaim claim) {
        context.calls()
                .unprepared(
                        claim,
                        "after names were permuted over the hardware, Unprepare of claim %s failed: %s",
                        claim.uid());
        context.claims().deleteObject(claim);
    }

    private void remains(Identities identities, PublishedDevice device, KubeletClaim claim, String state) {
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isPresent()) {
            context.transcript().note("refused: " + result.complaint().get());
            return;
        }
        List<String> edits =
                context.cdi().edits(result.results().get(claim.uid()).devices());
        identities.other(device, context.devices().all(), edits).ifPresent(other -> {
            throw new Violation(
                    "claim %s was %s with device %s as %s, and after a restart in which names moved it was prepared, though the name means %s now"
                            .formatted(claim.uid(), state, device, identities.of(device), other));
        });
    }
}
