// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Claims with admin access, which may have devices that are in use. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record AdminRules(TestContext context) {

    /** A device that claims have alone, if there is one. */
    private PublishedDevice device() {
        return context.devices().upTo(Integer.MAX_VALUE).stream()
                .min(Comparator.comparing(PublishedDevice::isShared))
                .orElseThrow();
    }

    private KubeletClaim admin(PublishedDevice device) {
        return context.claims().create(context.claims().draft().adminRequest("r0", device));
    }

    @Rule("DRA-PREP-19")
    void administratorsAndOwnersDoNotDisturbEachOther() {
        PublishedDevice device = device();
        KubeletClaim owner = context.claims().allocate(device);
        KubeletClaim admin = admin(device);
        ClaimResult owned = context.calls().prepared(owner);
        List<String> edits = context.cdi().edits(owned.devices());
        good(admin, "admin access to a device in use is refused");
        context.calls().unprepared(admin);
        stays(owner, owned, edits, "the unprepare of a claim with admin access");
        if (!device.isShared()) {
            notFreed(device);
        }
        context.calls().unprepared(owner);

        KubeletClaim first = admin(device);
        ClaimResult seen = good(first, "admin access to a free device is refused");
        List<String> seenEdits = context.cdi().edits(seen.devices());
        KubeletClaim later = context.claims().allocate(device);
        good(later, "a claim is refused for the admin access of another");
        context.calls().unprepared(later);
        stays(first, seen, seenEdits, "the unprepare of the device's owner");
    }

    private ClaimResult good(KubeletClaim claim, String otherwise) {
        return context.calls().prepared(claim, "%s: %s", otherwise);
    }

    private void stays(KubeletClaim claim, ClaimResult answer, List<String> edits, String cause) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(!context.cdi().find(id).isEmpty())
                    .because("%s took the CDI device %s of another claim away", cause, id);
        }
        Violation.unless(context.cdi().edits(answer.devices()).equals(edits)
                        && Reported.of(context.calls().prepared(claim)).equals(Reported.of(answer)))
                .about("DRA-PREP-05")
                .because("%s changed what another claim of the device has", cause);
    }

    /** A driver that is a line of defense at all still defends the owner's device. */
    private void notFreed(PublishedDevice device) {
        KubeletClaim third = context.claims().allocate(device);
        CallResult result = context.calls().prepare(third);
        Violation.unless(result.complaint().isPresent() || !defends())
                .because("the unprepare of a claim with admin access freed device %s of its owner", device);
        context.calls().unprepared(third);
    }

    /** Returns whether a device in use is refused to other claims when no administrator was there. */
    private boolean defends() {
        context.tidy();
        PublishedDevice device = context.devices().exclusive();
        context.calls().prepared(context.claims().allocate(device));
        boolean refused = context.calls()
                .prepare(context.claims().allocate(device))
                .complaint()
                .isPresent();
        context.tidy();
        return refused;
    }

    @Rule("DRA-PREP-20")
    void configsGiveNoPrivileges() {
        PublishedDevice device = device();
        List<String> normal = edits(context.claims().allocate(device));
        Set<String> privileges = new HashSet<>(edits(admin(device)));
        normal.forEach(privileges::remove);
        NotApplicable.unless(!privileges.isEmpty(), "admin access adds nothing to the edits of a device");
        for (Valid config : context.settings().driver().configs().valid()) {
            List<String> configured = edits(context.claims()
                    .create(context.claims().draft().request("r0", device).config(config.parameters())));
            for (String line : configured) {
                Violation.unless(!privileges.contains(line))
                        .because(
                                "the config %s gives a claim without admin access \"%s\", which otherwise admin access gives",
                                config.parameters(), line);
            }
        }
    }

    /** Returns the edits of a claim's container, without those that are the claim's alone. */
    private List<String> edits(KubeletClaim claim) {
        List<String> lines = context.cdi().edits(context.calls().prepared(claim).devices()).stream()
                .map(line -> line.replace(claim.uid(), "UID").replace(claim.name(), "NAME"))
                .toList();
        context.tidy();
        return lines;
    }
}
