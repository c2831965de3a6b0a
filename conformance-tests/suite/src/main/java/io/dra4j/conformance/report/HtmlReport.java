// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.RunOutcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * {@code report.html}: the outcome for people, as one self-contained page.
 *
 * <p>It is read from the top: the verdict with its reasons, the profiles, the failures, and then everything. It has no
 * scripts, and its policy forbids them.
 */
final class HtmlReport {

    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'";
    private static final int SETTINGS = 100_000;
    private static final int BRIEF = 160;
    private static final Map<Verdict, String> PROBLEMS = new LinkedHashMap<>();

    static {
        PROBLEMS.put(Verdict.FAIL, "Failures");
        PROBLEMS.put(Verdict.SUITE_ERROR, "Errors of the suite");
        PROBLEMS.put(Verdict.DEVIATION, "Known failures");
        PROBLEMS.put(Verdict.WARN, "Warnings");
    }

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "d MMMM yyyy, HH:mm 'UTC'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final RunOutcome outcome;
    private final Html html = new Html();
    private final HtmlResult results = new HtmlResult(html);

    HtmlReport(RunOutcome outcome) {
        this.outcome = outcome;
    }

    static String anchor(String profile) {
        return "profile-" + profile;
    }

    String text() {
        html.element("html", this::page, "lang", "en");
        return html.toString();
    }

    private void page() {
        html.element("head", this::head);
        html.element("body", () -> {
            html.element("header", this::header);
            html.element("main", () -> {
                profiles();
                html.element("details.legend", this::known);
                problems();
                html.element("h2", "All requirements", "id", "all");
                filter();
                byProfile().forEach(this::profile);
                settings();
            });
            html.element("footer", this::footer);
        });
    }

    private void head() {
        html.single("meta", "charset", "utf-8");
        html.single("meta", "http-equiv", "Content-Security-Policy", "content", POLICY);
        html.single("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
        html.single("meta", "name", "color-scheme", "content", "light dark");
        html.element(
                "title", Wording.headline(outcome) + ": " + outcome.header().driverName() + ", DRA driver conformance");
        html.element("style", () -> html.trusted(style()));
    }

    private static String style() {
        try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
            if (in == null) {
                throw new IllegalStateException("report.css is not in the archive of the suite");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // --- the head of the page

    private void header() {
        Header header = outcome.header();
        html.element("p.what", "DRA driver conformance report");
        html.element("h1", header.driverName());
        html.element("p.server", header.kubernetes().text());
        html.element("div.verdict.exit" + outcome.exitCode(), () -> {
            html.element("strong", Wording.headline(outcome));
            html.element("span", " " + Wording.sentence(outcome));
        });
        brief();
        html.element("nav", this::jumps);
        outcome.notes().forEach(note -> html.element("p.remark", note, "dir", "auto"));
        html.element("dl.facts", () -> facts(header).forEach(this::fact));
        html.element("p.note", Wording.NO_CERTIFICATION);
    }

    private void brief(Result result) {
        html.element("li", () -> {
            html.element("a", result.name(), "href", "#" + HtmlResult.anchor(result));
            html.element("span", " " + Excerpt.line(result.message(), BRIEF), "dir", "auto");
        });
    }

    /** The failures, a line each, and the requirements that were not judged. */
    private void brief() {
        html.element("ul.brief", () -> {
            for (Verdict verdict : List.of(Verdict.FAIL, Verdict.SUITE_ERROR)) {
                outcome.with(verdict).forEach(this::brief);
            }
        });
        Map<Boolean, List<NotJudged>> groups = NotJudged.of(outcome).stream()
                .collect(Collectors.partitioningBy(group -> group.verdict() == Verdict.NOT_APPLICABLE));
        notJudged(groups.get(false));
        html.element("details.legend", () -> {
            html.element("summary", "Not applicable, and why");
            notJudged(groups.get(true));
        });
    }

    private void notJudged(List<NotJudged> groups) {
        html.element("ul.brief", () -> groups.forEach(group -> html.element("li", group.toString(), "dir", "auto")));
    }

    private static Map<String, String> facts(Header header) {
        Map<String, String> facts = new LinkedHashMap<>();
        Wording.implementation(header).forEach((key, value) -> facts.put(capitalized(key), value));
        facts.put("Driver run as", header.driverKind());
        facts.put("Services", words(header.services()));
        facts.put("Suite", header.suiteVersion() + ", requirements " + header.catalogueVersion());
        facts.put("Seed", Long.toString(header.seed()));
        facts.put("Strict", header.strict() ? "yes: some SHOULDs are MUSTs" : "no");
        facts.put("Timeout factor", timeoutFactor(header.timeoutFactor()));
        facts.put("Started", TIME.format(header.started()));
        facts.put("Took", Wording.took(header.took()));
        facts.values().removeIf(String::isBlank);
        return facts;
    }

    private static String timeoutFactor(double factor) {
        return factor == 1 ? "1× (as for conformance)" : factor + "× (for conformance: 1×)";
    }

    private static String words(List<String> words) {
        return words.isEmpty() ? "nothing" : String.join(", ", words);
    }

    private static String capitalized(String word) {
        return word.isEmpty()
                ? ""
                : word.equals("url") ? "URL" : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }

    private void fact(String name, String value) {
        html.element("div", () -> {
            html.element("dt", name);
            html.element("dd", value, "dir", "auto");
        });
    }

    // --- the profiles

    private void profiles() {
        html.element("h2", "Profiles");
        html.element("table.profiles", () -> {
            html.element("thead", () -> html.element("tr", this::profilesHead));
            html.element("tbody", () -> outcome.profileOutcomes().forEach(this::row));
        });
        html.element("details.legend", this::legend);
    }

    private void profilesHead() {
        html.element("th", "Profile").element("th", "Result").element("th", "Checks");
    }

    private void row(ProfileOutcome profile) {
        String grade = "span.grade." + profile.success().name().toLowerCase(Locale.ROOT);
        html.element("tr", () -> {
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
        html.element("span." + HtmlResult.css(verdict), "", "style", "flex-grow:" + number);
    }

    private void counted(Verdict verdict, int number) {
        html.element("span", number + " " + Wording.label(verdict)).text(" ");
    }

    private void legend() {
        html.element("summary", "What the words mean");
        html.element("dl", () -> {
            for (Verdict verdict : Verdict.values()) {
                html.element("dt", () -> results.badge(verdict));
                html.element("dd", Wording.meaning(verdict));
            }
        });
    }

    // --- what is wrong

    /** Links from the verdict to its reasons, which are far apart on a phone. */
    private void jumps() {
        PROBLEMS.forEach((verdict, title) -> {
            int found = outcome.with(verdict).size();
            if (found > 0) {
                html.element("a", numbered(title, found), "href", "#" + anchor(verdict));
                html.text(" ");
            }
        });
        html.element("a", "All requirements", "href", "#all");
    }

    private void problems() {
        PROBLEMS.forEach((verdict, title) -> {
            List<Result> found = outcome.with(verdict);
            if (!found.isEmpty()) {
                html.element("h2", numbered(title, found.size()), "id", anchor(verdict));
                found.forEach(results::card);
            }
        });
    }

    private static String numbered(String title, int number) {
        return title + " (" + number + ")";
    }

    private static String anchor(Verdict verdict) {
        return "verdict-" + Wording.key(verdict);
    }

    // --- everything

    private void filter() {
        html.element("label.filter", () -> {
            html.single("input", "type", "checkbox", "id", "less");
            html.text(" Show only failures, and what they block");
        });
    }

    /** The meaning of the labels of gates, which are the suite's own. */
    private void known() {
        List<String> open = outcome.header().detected();
        html.element("summary", "What was known about the driver, and what the settings offered");
        html.element(
                "ul",
                () -> Arrays.stream(Applicability.values())
                        .filter(gate -> gate != Applicability.NOT_HC) // the text of HC covers it
                        .map(g -> open.contains(g.label()) ? g.words() : g.otherwise())
                        .forEach(clause -> html.element("li", clause)));
    }

    private Map<String, List<Result>> byProfile() {
        return CoverageReport.grouped(
                outcome.results(), result -> result.requirement().profile());
    }

    private void profile(String name, List<Result> members) {
        html.element("h3", name, "id", anchor(name));
        outcome.profiles().stream()
                .filter(profile -> profile.name().equals(name))
                .forEach(profile -> html.element("p.small", profile.title()));
        html.element(
                "div.list",
                () -> CoverageReport.grouped(members, Result::requirement).forEach(results::entry));
    }

    private void settings() {
        if (!outcome.header().settings().isBlank()) {
            html.element("h2", "Settings of this run");
            html.element("details.evidence", () -> {
                html.element("summary", "As they were given, without their secrets");
                html.element("pre", Excerpt.head(outcome.header().settings(), SETTINGS));
            });
        }
    }

    private void footer() {
        html.element(
                "p",
                "Written by dra-conformance %s. For programs: report.yaml and junit.xml; how much of"
                                .formatted(outcome.header().suiteVersion())
                        + " the catalogue was tested: coverage.md.");
    }
}
