// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.CdiView.Resolved;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.testkit.cdi.CdiCheck;
import io.dra4j.testkit.cdi.CdiName;
import io.dra4j.testkit.cdi.CdiVersion;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rules for the CDI specs that results lead to. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record CdiRules(TestContext context) {

    private static final int MANY = 8;

    /** The ids of an answer to a claim with several devices, if there are as many. */
    private List<String> ids() {
        return ids(context.calls()
                .prepared(context.claims().allocate(context.devices().forOneClaim(MANY))));
    }

    private static List<String> ids(ClaimResult answer) {
        List<String> ids = CdiView.ids(answer);
        NotApplicable.unless(!ids.isEmpty(), "the driver answers without CDI ids");
        return ids;
    }

    @Rule("DRA-CDI-01")
    void idsAreQualifiedNames() {
        for (String id : ids()) {
            Violation.ifPresent(CdiName.problem(id), "the CDI id \"%s\" %s", id);
        }
    }

    @Rule("DRA-CDI-02")
    void idsResolveWhenTheAnswerIsThere() {
        ids().forEach(context.cdi()::resolve);
    }

    /** The specs that some ids lead to, with their files. */
    private List<Resolved> specs(List<String> ids) {
        return ids.stream().map(context.cdi()::resolve).toList();
    }

    @Rule("DRA-CDI-03")
    void specsAreValid() {
        for (Resolved resolved : specs(ids())) {
            List<String> problems = CdiCheck.problems(resolved.spec());
            Violation.unless(problems.isEmpty())
                    .because("the CDI spec %s is invalid: %s", resolved.file(), String.join("; ", problems));
        }
    }

    @Rule("DRA-CDI-04")
    void specsNameTheVersionThatTheyNeed() {
        String newest = context.settings().driver().cdiVersion();
        for (Resolved resolved : specs(ids())) {
            Optional<String> problem = CdiVersion.problem(resolved.spec(), newest);
            Violation.ifPresent(problem, "in the CDI spec %s, %s", resolved.file());
        }
    }

    @Rule("DRA-CDI-06")
    void aClaimsSpecsGoWithIt() {
        PublishedDevice device = context.devices().one();
        context.unpreparedClaim(device); // after it, what serves all claims is there
        Content before = context.cdi().contents();
        KubeletClaim claim = context.unpreparedClaim(device);
        List<String> differences = context.cdi().contents().differences(before);
        Violation.unless(differences.isEmpty())
                .because(
                        "after Unprepare of claim %s, the CDI specs are not as before: %s",
                        claim.uid(), Pools.few(differences));
    }

    @Rule("DRA-CDI-07")
    void aClaimGetsNothingOfAnother() {
        List<PublishedDevice> devices = context.devices().some(2);
        KubeletClaim one = context.claims().allocate(devices.get(0));
        KubeletClaim other = context.claims().allocate(devices.get(1));
        ClaimResult answer = context.calls().prepared(one);
        List<String> alone = edits(answer);
        ClaimResult second = context.calls().prepared(other);
        unmixed(one, edits(answer), alone, other);
        context.calls().unprepared(one);
        List<String> without = edits(second);
        ClaimResult again = context.calls().prepared(one);
        unmixed(other, edits(second), without, one);
        mentionsNot(one, edits(again), other);
    }

    private List<String> edits(ClaimResult answer) {
        ids(answer);
        return context.cdi().edits(answer.devices());
    }

    private static void unmixed(KubeletClaim claim, List<String> now, List<String> before, KubeletClaim other) {
        List<String> more = now.stream().filter(line -> !before.contains(line)).toList();
        Violation.unless(more.isEmpty())
                .because(
                        "since claim %s was prepared, containers of claim %s get %s, too",
                        other.uid(), claim.uid(), more);
        mentionsNot(claim, now, other);
    }

    private static void mentionsNot(KubeletClaim claim, List<String> edits, KubeletClaim other) {
        for (String line : edits) {
            Violation.unless(!line.contains(other.uid()))
                    .because("containers of claim %s get something of claim %s: %s", claim.uid(), other.uid(), line);
        }
    }

    @Rule("DRA-CDI-08")
    void aNameKeepsItsContent() {
        PublishedDevice device = context.devices().one();
        List<Valid> configs = context.settings().driver().configs().valid();
        Map<String, Content> first = contents(device, configs, 0);
        contents(device, configs, 1).forEach((id, content) -> {
            List<String> differences = content.differences(first.getOrDefault(id, content));
            Violation.unless(differences.isEmpty())
                    .because("the CDI name %s was used again with other content: %s", id, Pools.few(differences));
        });
    }

    /** Returns the edits that a claim's ids resolve to, and unprepares it. */
    private Map<String, Content> contents(PublishedDevice device, List<Valid> configs, int which) {
        ClaimDraft draft = context.claims().draft().request("r0", device);
        if (configs.size() > which) {
            draft.config(configs.get(which).parameters(), "r0");
        }
        KubeletClaim claim = context.claims().create(draft);
        Map<String, Content> contents = new LinkedHashMap<>();
        for (String id : ids(context.calls().prepared(claim))) {
            List<JsonNode> edits = context.cdi().resolve(id).edits();
            contents.put(id, Content.of(Map.of("its device's edit", edits.get(0), "its spec's edit", edits.get(1))));
        }
        context.calls().unprepared(claim);
        return contents;
    }
}
