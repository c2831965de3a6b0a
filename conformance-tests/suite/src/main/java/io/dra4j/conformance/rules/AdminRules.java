// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Claims with admin access, which may have devices that are in use. */
@Lane.On(Lane.CALLS)
final class AdminRules {

    private final Bench bench;

    AdminRules(Bench bench) {
        this.bench = bench;
    }

    private KubeletClaim admin(PublishedDevice device) {
        return bench.claims().create(bench.claims().draft().adminRequest("r0", device));
    }

    /** A device that one normal claim can have at a time. */
    private PublishedDevice exclusive() {
        return bench.devices().upTo(Integer.MAX_VALUE).stream()
                .filter(device -> !device.isShared())
                .findFirst()
                .orElseThrow(() -> new NotApplicable("every device may have several claims"));
    }

    @Rule("DRA-PREP-19")
    void administratorsAndOwnersDoNotDisturbEachOther() {
        PublishedDevice device = exclusive();
        KubeletClaim owner = bench.claims().allocate(device);
        KubeletClaim admin = admin(device);
        ClaimAnswer owned = bench.calls().prepared(owner);
        List<String> edits = bench.cdi().edits(owned.devices());
        good(admin, "admin access to a device in use is refused");
        bench.calls().unprepared(admin);
        stays(owner, owned, edits, "the unprepare of a claim with admin access");
        notFreed(device);
        bench.calls().unprepared(owner);

        KubeletClaim first = admin(device);
        ClaimAnswer seen = good(first, "admin access to a free device is refused");
        List<String> seenEdits = bench.cdi().edits(seen.devices());
        KubeletClaim later = bench.claims().allocate(device);
        good(later, "a claim is refused for the admin access of another");
        bench.calls().unprepared(later);
        stays(first, seen, seenEdits, "the unprepare of the device's owner");
    }

    private ClaimAnswer good(KubeletClaim claim, String otherwise) {
        CallResult result = bench.calls().prepare(claim);
        Violation.unless(
                result.complaint().isEmpty(), "%s: %s", otherwise, result.complaint().orElse(""));
        return result.answers().get(claim.uid());
    }

    private void stays(KubeletClaim claim, ClaimAnswer answer, List<String> edits, String cause) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(
                    !bench.cdi().find(id).isEmpty(),
                    "%s took the CDI device %s of another claim away",
                    cause,
                    id);
        }
        Violation.unless(
                bench.cdi().edits(answer.devices()).equals(edits)
                        && Reported.of(bench.calls().prepared(claim)).equals(Reported.of(answer)),
                "%s changed what another claim of the device has",
                cause);
    }

    /** Where the driver is a line of defense at all, the owner's device is still defended. */
    private void notFreed(PublishedDevice device) {
        KubeletClaim third = bench.claims().allocate(device);
        CallResult result = bench.calls().prepare(third);
        Violation.unless(
                result.complaint().isPresent() || !defends(),
                "the unprepare of a claim with admin access freed device %s of its owner",
                device);
        bench.calls().unprepared(third);
    }

    /** Whether a device in use is refused to other claims when no administrator was there. */
    private boolean defends() {
        bench.tidy();
        PublishedDevice device = exclusive();
        bench.calls().prepared(bench.claims().allocate(device));
        boolean refused =
                bench.calls().prepare(bench.claims().allocate(device)).complaint().isPresent();
        bench.tidy();
        return refused;
    }

    @Rule("DRA-PREP-20")
    void configsGiveNoPrivileges() {
        PublishedDevice device = exclusive();
        List<String> normal = edits(bench.claims().allocate(device));
        Set<String> privileges = new HashSet<>(edits(admin(device)));
        normal.forEach(privileges::remove);
        NotApplicable.unless(
                !privileges.isEmpty(), "admin access adds nothing to the edits of a device");
        for (Valid config : bench.settings().driver().configs().valid()) {
            List<String> configured =
                    edits(
                            bench.claims()
                                    .create(
                                            bench.claims()
                                                    .draft()
                                                    .request("r0", device)
                                                    .config(config.parameters())));
            for (String line : configured) {
                Violation.unless(
                        !privileges.contains(line),
                        "the config %s gives a claim without admin access \"%s\", which otherwise"
                                + " admin access gives",
                        config.parameters(),
                        line);
            }
        }
    }

    /** What a claim's container gets, with nothing that is the claim's alone. */
    private List<String> edits(KubeletClaim claim) {
        List<String> lines =
                bench.cdi().edits(bench.calls().prepared(claim).devices()).stream()
                        .map(line -> line.replace(claim.uid(), "UID").replace(claim.name(), "NAME"))
                        .toList();
        bench.tidy();
        return lines;
    }
}
