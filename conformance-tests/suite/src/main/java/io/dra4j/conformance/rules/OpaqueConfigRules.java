// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.settings.ConfigSettings;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import java.util.List;

/** Opaque configurations: their driver, their devices, and which of several applies. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record OpaqueConfigRules(TestContext context, ConfigSettings configs) {

    private static final String CLASS = "FromClass";
    private static final String CLAIM = "FromClaim";

    OpaqueConfigRules(TestContext context) {
        this(context, context.settings().driver().configs());
    }

    private Valid visible(int index) {
        NotApplicable.unless(
                context.detected().contains("cdi"),
                "effects of configs show in CDI edits, and the driver answers without CDI ids");
        List<Valid> visible = configs.visible();
        Untested.unless(
                visible.size() > index,
                "the settings have %d valid configs with a visible effect, but %d are needed",
                visible.size(),
                index + 1);
        return visible.get(index);
    }

    private ClaimDraft draft() {
        return context.claims().draft();
    }

    /** Prepares a claim, and returns the edits of a device. */
    private List<String> edits(ClaimDraft draft, PublishedDevice device) {
        ClaimResult answer = context.calls().prepared(context.claims().create(draft));
        List<PreparedDevice> own = answer.devices().stream()
                .filter(d -> d.pool().equals(device.pool()))
                .filter(d -> d.device().equals(device.name()))
                .toList();
        return context.cdi().edits(own);
    }

    private static boolean shows(List<String> edits, Valid config) {
        return edits.stream().anyMatch(config::shows);
    }

    private static void due(List<String> edits, Valid config, String why) {
        Violation.unless(shows(edits, config))
                .because(
                        "no edit of the device matches \"%s\", although %s; its edits: %s",
                        config.effect(), why, edits);
    }

    private static void notDue(List<String> edits, Valid config, String why) {
        Violation.unless(!shows(edits, config))
                .because(
                        "an edit of the device matches \"%s\", although %s; its edits: %s",
                        config.effect(), why, edits);
    }

    @Rule("DRA-PREP-14")
    void configsOfOtherDriversAreNotRead() {
        ObjectNode nonsense = JsonNodeFactory.instance.objectNode().put("kind", "Nonsense");
        nonsense.putArray("dra-conformance").add(1).addObject();
        ClaimDraft draft = draft().request("r0", context.devices().one())
                .config(CLAIM, Absent.DRIVER, nonsense)
                .config(CLASS, "absent.dra-conformance.example.com", nonsense, "r0");
        context.calls()
                .prepared(context.claims().create(draft), "a claim with configs of other drivers was refused: %s");
    }

    @Rule("DRA-PREP-23")
    void theClaimOutweighsTheClassAndTheLaterTheEarlier() {
        wins(1, CLASS, CLAIM, "the claim's config comes after the class's");
        wins(0, CLAIM, CLASS, "the claim's config overrides the class's, which is listed later");
        if (!configs.precedence().equals("reject-multiple")) {
            wins(1, CLAIM, CLAIM, "it is the later of two configs of the claim");
            wins(1, CLASS, CLASS, "it is the later of two configs of the class");
        }
    }

    /** Checks that, of two configurations from these sources, only the winner, 0 or 1, has its effect. */
    private void wins(int winner, String first, String second, String why) {
        PublishedDevice device = context.devices().one();
        ClaimDraft draft = draft().request("r0", device)
                .config(first, context.place().driver(), visible(0).parameters())
                .config(second, context.place().driver(), visible(1).parameters());
        List<String> edits = edits(draft, device);
        due(edits, visible(winner), why);
        if (!configs.precedence().equals("merge")) {
            notDue(edits, visible(1 - winner), "another config overrides it: " + why);
        }
        context.tidy();
    }

    @Rule("DRA-PREP-24")
    void aConfigIsForItsRequestsAloneOrForAll() {
        List<PublishedDevice> two = context.devices().some(2);
        JsonNode config = visible(0).parameters();
        for (int i = 0; i < two.size(); i++) {
            PublishedDevice device = two.get(i);
            for (int of = 0; of < two.size(); of++) {
                List<String> edits = edits(ofTwo(two).config(config, "r" + of), device);
                if (of == i) {
                    due(edits, visible(0), "a config for request r%d is for this device".formatted(of));
                } else {
                    notDue(edits, visible(0), "its config is for request r%d and the device for r%d".formatted(of, i));
                }
                context.tidy();
            }
            due(edits(ofTwo(two).config(config), device), visible(0), "a config that names no request is for all");
            context.tidy();
        }
    }

    private ClaimDraft ofTwo(List<PublishedDevice> two) {
        return draft().request("r0", two.get(0)).request("r1", two.get(1));
    }

    @Rule("DRA-PREP-25")
    void aConfigForAMainRequestIsForWhicheverAlternative() {
        PublishedDevice device = context.devices().one();
        for (String chosen : List.of("a", "b")) {
            if (context.detected().contains("cdi") && !configs.visible().isEmpty()) {
                ClaimDraft draft = draft().alternatives("r0", List.of("a", "b"), chosen, device);
                due(
                        edits(draft.config(visible(0).parameters(), "r0"), device),
                        visible(0),
                        "a config for request r0 is for its subrequest r0/" + chosen);
                context.tidy();
            }
            if (!configs.invalid().isEmpty()) {
                ClaimDraft draft = draft().alternatives("r0", List.of("a", "b"), chosen, device);
                refused(
                        draft.config(configs.invalid().get(0), "r0"),
                        "an invalid config for request r0 is for its subrequest r0/" + chosen);
            }
        }
    }

    private String refused(ClaimDraft draft, String because) {
        String error = context.calls().refused(context.claims().create(draft), because);
        context.tidy();
        return error;
    }

    @Rule("DRA-PREP-26")
    void aConfigForAnAlternativeIsForThatOneAlone() {
        PublishedDevice device = context.devices().one();
        JsonNode config = visible(0).parameters();
        ClaimDraft chosen = draft().alternatives("r0", List.of("a", "b"), "a", device);
        due(
                edits(chosen.config(config, "r0/a"), device),
                visible(0),
                "a config for subrequest r0/a is for this device");
        context.tidy();
        ClaimDraft passedOver = draft().alternatives("r0", List.of("a", "b"), "b", device);
        notDue(
                edits(passedOver.config(config, "r0/a"), device),
                visible(0),
                "its config is for subrequest r0/a, and r0/b was chosen");
    }

    @Rule("DRA-PREP-27")
    void anInvalidConfigIsAnError() {
        Leftovers leftovers = Leftovers.since(context);
        for (JsonNode invalid : configs.invalid()) {
            String error = refused(
                    draft().request("r0", context.devices().one()).config(invalid),
                    "its config is invalid according to the settings of this run: " + invalid);
            Violation.unless(!error.isBlank()).because("the error for the invalid config %s is empty", invalid);
            leftovers.none("after the prepare of a claim with an invalid config");
        }
    }

    @Rule("DRA-PREP-28")
    void whatAConfigMustNotHoldIsAnError() {
        JsonNode valid = configs.valid().get(0).parameters();
        unknown(valid, "draConformanceBogus", "bogus");
        if (valid.has("apiVersion")) {
            String version = valid.path("apiVersion").asText();
            String group = version.contains("/") ? version.split("/")[0] + "/" : "";
            unknown(valid, "apiVersion", group + "v999");
        }
        if (valid.has("kind")) {
            unknown(valid, "kind", "DraConformanceNoSuchKind");
        }
    }

    private void unknown(JsonNode valid, String field, String value) {
        ObjectNode changed = valid.deepCopy();
        changed.put(field, value);
        refused(
                draft().request("r0", context.devices().one()).config(changed),
                "its config has the unknown %s: %s".formatted(field, value));
    }
}
