// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.CdiView.Resolved;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.NotApplicable;
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
import java.util.Objects;
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
        Map<String, JsonNode> before = context.cdi().contents();
        KubeletClaim claim = context.unpreparedClaim(device);
        Map<String, JsonNode> after = context.cdi().contents();
        before.forEach((file, spec) -> after.remove(file, spec));
        after.forEach((file, spec) -> {
            String what = before.containsKey(file) ? "has changed: " + spec : "is still there";
            throw new Violation("after Unprepare of claim %s, the CDI spec %s %s", claim.uid(), file, what);
        });
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
        Map<String, List<JsonNode>> first = contents(device, configs, 0);
        Map<String, List<JsonNode>> second = contents(device, configs, 1);
        second.forEach(
                (id, content) -> Violation.unless(!first.containsKey(id) || Objects.equals(first.get(id), content))
                        .because(
                                "the CDI name %s was used again with other content: %s, before it was %s",
                                id, content, first.get(id)));
    }

    /** Returns the edits that a claim's ids resolve to, and unprepares it. */
    private Map<String, List<JsonNode>> contents(PublishedDevice device, List<Valid> configs, int which) {
        ClaimDraft draft = context.claims().draft().request("r0", device);
        if (configs.size() > which) {
            draft.config(configs.get(which).parameters(), "r0");
        }
        KubeletClaim claim = context.claims().create(draft);
        Map<String, List<JsonNode>> contents = new LinkedHashMap<>();
        for (String id : ids(context.calls().prepared(claim))) {
            contents.put(id, context.cdi().resolve(id).edits());
        }
        context.calls().unprepared(claim);
        return contents;
    }
}
