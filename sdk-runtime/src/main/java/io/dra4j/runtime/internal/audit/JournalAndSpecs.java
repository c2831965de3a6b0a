// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.PreparedResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Contradictions between the journal and the CDI specs. */
final class JournalAndSpecs {

    private static final String RESTARTS =
            "a container of the claim that restarts fails with an unresolvable CDI device";

    private JournalAndSpecs() {}

    static Result missing(Views views) {
        Map<String, List<String>> specs = views.specs().get().devices();
        List<Finding> findings = new ArrayList<>();
        for (ClaimRecord claim : views.prepared()) {
            if (!needed(views, claim).isEmpty()
                    && !specs.containsKey(claim.ref().uid())) {
                findings.add(new Finding(
                        "spec-missing",
                        Severity.ERROR,
                        Words.claim(claim.ref()),
                        "it is prepared, and has no CDI spec in "
                                + views.driver().cdiRoot(),
                        RESTARTS + "; a driver that runs writes the spec again within 20 s",
                        new Mend(views).restartDriver()));
            }
        }
        return Words.result(findings, views.prepared().size(), "prepared claim");
    }

    static Result lacksDevice(Views views) {
        Map<String, List<String>> specs = views.specs().get().devices();
        List<Finding> findings = new ArrayList<>();
        for (ClaimRecord claim : views.prepared()) {
            List<String> lacking = new ArrayList<>(needed(views, claim));
            lacking.removeAll(specs.getOrDefault(claim.ref().uid(), lacking));
            if (!lacking.isEmpty()) {
                findings.add(new Finding(
                        "spec-lacks-device",
                        Severity.ERROR,
                        Words.claim(claim.ref()),
                        "its CDI spec lacks " + String.join(", ", lacking),
                        RESTARTS + "; the driver writes the spec again when it starts",
                        new Mend(views).restartDriver()));
            }
        }
        return Words.result(findings, specs.size(), "spec");
    }

    private static List<String> needed(Views views, ClaimRecord claim) {
        ClaimRecord.Results results = claim.results();
        if (results == null) {
            return List.of();
        }
        return CdiSpecs.reading(views.driver().cdiRoot(), views.driver().name())
                .ids(claim.ref().uid(), PreparedResults.specDevices(results))
                .stream()
                .map(id -> id.substring(id.indexOf('=') + 1))
                .toList();
    }

    static Result unknown(Views views) {
        Map<String, List<String>> specs = views.specs().get().devices();
        List<Finding> findings = new ArrayList<>();
        for (String uid : specs.keySet()) {
            if (!views.isRecorded(uid) && views.kubeletClaim(uid).isEmpty()) {
                findings.add(unknown(views, uid));
            }
        }
        return Words.result(findings, specs.size(), "spec");
    }

    private static Finding unknown(Views views, String uid) {
        return new Finding(
                "spec-unknown",
                Severity.WARNING,
                "CDI spec of claim " + uid,
                "the journal has no such claim",
                "the journal has lost the claim, or the spec was left; the driver takes it for"
                        + " evidence of the first when it starts, and holds the claim as damaged",
                List.of(
                        "kubectl get resourceclaims -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid | grep "
                                + uid,
                        "# if that shows a claim, delete its pods; if it shows none:",
                        "sudo rm %s/k8s.%s-claim_%s.json"
                                .formatted(
                                        views.driver().cdiRoot(), views.driver().name(), uid)));
    }
}
