// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.run.Outcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.util.Locale;

/** Writes the table of profiles onto the page, and what its words mean. */
final class HtmlProfiles {

    private final Outcome outcome;
    private final Html html;

    HtmlProfiles(Outcome outcome, Html html) {
        this.outcome = outcome;
        this.html = html;
    }

    /** Where on the page the requirements of a profile are. */
    static String anchor(String profile) {
        return "profile-" + profile;
    }

    /** The class of a verdict in the style sheet. */
    static String css(Verdict verdict) {
        return "v-" + verdict.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static void badge(Html html, Verdict verdict) {
        html.element("span.badge." + css(verdict), Wording.label(verdict));
    }

    void write() {
        html.element("h2", "Profiles");
        html.element(
                "table.profiles",
                () -> {
                    html.element("thead", () -> html.element("tr", this::head));
                    html.element("tbody", () -> outcome.profileOutcomes().forEach(this::row));
                });
        html.element("details.legend", this::legend);
    }

    private void head() {
        html.element("th", "Profile").element("th", "Result").element("th", "Checks");
    }

    private void row(ProfileOutcome profile) {
        String grade = "span.grade." + profile.success().name().toLowerCase(Locale.ROOT);
        html.element(
                "tr",
                () -> {
                    html.element("td", () -> name(profile));
                    html.element("td", () -> html.element(grade, Wording.grade(profile)));
                    html.element("td", () -> numbers(profile));
                });
    }

    private void name(ProfileOutcome outcome) {
        Profile profile = outcome.profile();
        if (outcome.statistics().isEmpty()) {
            html.text(profile.name());
        } else {
            html.element("a", profile.name(), "href", "#" + anchor(profile.name()));
        }
        if (profile.core()) {
            html.text(" ").element("span.core", "core");
        }
    }

    private void numbers(ProfileOutcome profile) {
        if (profile.statistics().isEmpty()) {
            html.element("div.counts", "not part of this run");
            return;
        }
        html.element("div.bar", () -> profile.statistics().forEach(this::part));
        html.element("div.counts", () -> profile.statistics().forEach(this::counted));
    }

    private void part(Verdict verdict, int number) {
        html.element("span." + css(verdict), "", "style", "flex-grow:" + number);
    }

    private void counted(Verdict verdict, int number) {
        html.element("span", number + " " + Wording.label(verdict)).text(" ");
    }

    private void legend() {
        html.element("summary", "What the words mean");
        html.element(
                "dl",
                () -> {
                    for (Verdict verdict : Verdict.values()) {
                        html.element("dt", () -> badge(html, verdict));
                        html.element("dd", Wording.meaning(verdict));
                    }
                });
    }
}
