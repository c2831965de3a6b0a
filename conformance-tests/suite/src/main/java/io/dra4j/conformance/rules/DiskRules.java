// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.ReadOnlyDirectories;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.StateFiles;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Rules for a driver that cannot write. */
@ExecutionGroup.On(ExecutionGroup.FAULTS)
record DiskRules(TestContext context) {

    @Rule("DRA-UNP-12")
    void leftoversAreAnError() throws IOException {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Leftovers leftovers = Leftovers.since(context);
        ClaimResult answer = context.calls().prepared(claim);
        List<Path> specs = new ArrayList<>();
        for (String id : CdiView.ids(answer)) {
            specs.add(context.cdi().path(context.cdi().resolve(id).file()));
        }
        CallResult result;
        boolean left;
        try (ReadOnlyDirectories directories = blocked(context.cdi().folders(), specs)) {
            context.transcript().note("nothing can be written by " + directories);
            result = context.calls().unprepare(claim);
            left = result.complaint().isEmpty() && specs.stream().anyMatch(Files::exists);
        }
        boolean claims = left && !unchanged(leftovers);
        Violation.unless(!claims)
                .because(
                        "Unprepare of claim %s succeeded while the CDI directory was read-only, and its spec %s is still there",
                        claim.uid(), specs);
        context.calls().unprepared(claim);
        leftovers.none(
                "after a failed Unprepare of claim %s and a retry on a writable CDI directory".formatted(claim.uid()));
    }

    private ReadOnlyDirectories blocked(List<Path> folders, List<Path> files) {
        List<Path> present = folders.stream().filter(Files::isDirectory).toList();
        context.transcript().note(present + " read-only from here on");
        return ReadOnlyDirectories.of(
                context, present, files.stream().distinct().toList());
    }

    /** Specs for all claims may stay. */
    private static boolean unchanged(Leftovers leftovers) {
        try {
            leftovers.none("now");
            return true;
        } catch (Violation e) {
            return false;
        }
    }

    @Rule("DRA-RST-07")
    void whatCantBeWrittenFails() throws IOException {
        PublishedDevice device = context.devices().one();
        boolean tried = withoutCdi(device) | withoutState(device);
        NotApplicable.unless(tried, "the driver writes no CDI specs, and the settings name no state files");
    }

    private boolean withoutCdi(PublishedDevice device) {
        KubeletClaim claim = context.claims().allocate(device);
        Leftovers leftovers = Leftovers.since(context);
        CallResult result;
        try (ReadOnlyDirectories directories = blocked(context.cdi().folders(), List.of())) {
            context.transcript().note("nothing can be written by " + directories);
            result = context.calls().prepare(claim);
        }
        ClaimResult answer = result.results().get(claim.uid());
        if (result.complaint().isEmpty() && answer != null) {
            for (String id : CdiView.ids(answer)) {
                Violation.unless(!context.cdi().find(id).isEmpty())
                        .about("DRA-CDI-02")
                        .because(
                                "Prepare of claim %s succeeded while the CDI directory was read-only, and its id %s resolves to nothing",
                                claim.uid(), id);
            }
        }
        worksAgain(claim, leftovers, "the CDI directory");
        return answer == null || !CdiView.ids(answer).isEmpty();
    }

    private boolean withoutState(PublishedDevice device) throws IOException {
        if (context.settings().driver().stateFiles().isEmpty()) {
            return false;
        }
        KubeletClaim claim = context.claims().allocate(device);
        Leftovers leftovers = Leftovers.since(context);
        StateFiles files = StateFiles.of(context);
        CallResult result;
        try (ReadOnlyDirectories directories =
                blocked(List.of(files.paths().get(0).getParent()), files.paths())) {
            context.transcript().note("nothing can be written by " + directories);
            result = context.calls().prepare(claim);
        }
        Violation.unless(result.complaint().isPresent() || !files.areUnchanged())
                .because(
                        "Prepare of claim %s succeeded while the state files %s were read-only, and they do not record it",
                        claim.uid(), files.paths());
        worksAgain(claim, leftovers, "the directory of the state");
        return true;
    }

    private void worksAgain(KubeletClaim claim, Leftovers leftovers, String place) {
        context.calls()
                .prepared(claim, "Prepare of claim %s fails although %s is writable again: %s", claim.uid(), place);
        context.calls().unprepared(claim);
        leftovers.none(
                "after a Prepare of claim %s while %s was read-only, and Unprepare".formatted(claim.uid(), place));
    }
}
