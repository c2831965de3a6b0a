// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.requirements.Observability;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Evidence;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.Verdict;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Writes results onto the page: a card for each failure, and a list entry for each result. */
record HtmlResult(Html html) {
    private static final int MESSAGE = 8_000;

    /** Limits of each kind of evidence: larger for a failure than for other results. */
    private static final int OF_PROBLEMS = 40_000;

    private static final int OF_OTHERS = 3_000;

    private static final Set<Verdict> PROBLEMS =
            Set.of(Verdict.FAIL, Verdict.SUITE_ERROR, Verdict.DEVIATION, Verdict.WARN);
    private static final Set<Verdict> QUIET =
            Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED, Verdict.SKIPPED, Verdict.INFO);

    static String anchor(Result result) {
        String variant = result.variant();
        return result.requirement().id() + (variant.isEmpty() ? "" : "-" + variant);
    }

    /** The class of a verdict in the style sheet. */
    static String css(Verdict verdict) {
        return "v-" + verdict.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    void badge(Verdict verdict) {
        html.element("span.badge." + css(verdict), Wording.label(verdict));
    }

    /** Everything known about a result, on one card. */
    void card(Result result) {
        html.element(
                "article.card." + css(result.verdict()),
                () -> {
                    html.element("h3", () -> title(result));
                    rule(result.requirement());
                    found(result);
                    measured(result);
                    origin(result.requirement());
                    evidence(result);
                },
                "id",
                anchor(result));
    }

    private void title(Result result) {
        badge(result.verdict());
        html.text(" ").element("span.id", result.requirement().id());
        html.text(" ").element("span.profile", result.requirement().profile());
        variant(result);
    }

    private void variant(Result result) {
        if (!result.variant().isEmpty()) {
            html.text(" ").element("span.variant", result.variant());
        }
        if (!result.took().isZero()) {
            html.text(" ").element("span.took", Wording.took(result.took()));
        }
    }

    private void rule(Requirement requirement) {
        html.element("p.rule", () -> {
            html.element("b", requirement.level().name());
            html.text(" ").prose(requirement.rule());
        });
        if (!requirement.reading().isEmpty()) {
            html.element("p.small", () -> html.text("Our reading: ").prose(requirement.reading()));
        }
    }

    private void found(Result result) {
        if (!result.message().isBlank()) {
            html.element("div.message", Excerpt.head(result.message().strip(), MESSAGE), "dir", "auto");
        }
        if (PROBLEMS.contains(result.verdict()) && !result.requirement().hint().isEmpty()) {
            html.element("p.hint", () -> {
                html.element("b", "Hint");
                html.text(" ").prose(result.requirement().hint());
            });
        }
    }

    private void measured(Result result) {
        if (!result.measurements().isEmpty()) {
            html.element("dl.measured", () -> result.measurements().forEach(this::measured));
        }
    }

    private void measured(Measured measured) {
        html.element("dt", measured.what());
        html.element(measured.isOver() ? "dd.over" : "dd", () -> {
            html.element("b", measured.valueText());
            html.text(" (limit " + measured.limitText() + ")");
        });
    }

    private void origin(Requirement requirement) {
        html.element("dl.origin", () -> {
            origin("Check", requirement.test());
            if (requirement.observability() == Observability.STOCHASTIC) {
                origin("", "It depends on timing: a pass proves nothing.");
            }
            origin("Source", requirement.source());
        });
    }

    private void origin(String name, String text) {
        if (!text.isEmpty()) {
            html.element("dt", name).element("dd", () -> html.prose(text));
        }
    }

    private void evidence(Result result) {
        Evidence evidence = result.evidence();
        int most = PROBLEMS.contains(result.verdict()) ? OF_PROBLEMS : OF_OTHERS;
        String calls = String.join("\n", evidence.calls());
        if ((calls + evidence.requests() + evidence.files() + evidence.log()).isBlank()) {
            return;
        }
        html.element("details.evidence", () -> {
            html.element("summary", "Evidence: what was called, asked and written");
            part("Calls of the kubelet", Excerpt.tail(calls, most));
            part("Requests to the API server", Excerpt.tail(evidence.requests(), most));
            part("CDI directory", Excerpt.head(evidence.files(), most));
            part("The end of the driver's output", Excerpt.tail(evidence.log(), most));
        });
    }

    private void part(String title, String text) {
        if (!text.isBlank()) {
            html.element("h4", title);
            html.element("pre", text.stripTrailing().stripIndent(), "dir", "auto", "tabindex", "0");
        }
    }

    /** A line of the list that unfolds, for all variants of a requirement. */
    void entry(Requirement requirement, List<Result> variants) {
        boolean quiet = variants.stream().map(Result::verdict).allMatch(QUIET::contains);
        html.element(
                quiet ? "details.entry.quiet" : "details.entry",
                () -> {
                    html.element("summary", () -> summary(requirement, variants));
                    html.element("div.body", () -> body(requirement, variants));
                },
                "id",
                "all-" + requirement.id());
    }

    private void summary(Requirement requirement, List<Result> variants) {
        html.element("span.id", requirement.id());
        html.element("span.badges", () -> {
            for (Verdict verdict : Wording.WORST_FIRST) {
                if (variants.stream().anyMatch(one -> one.verdict() == verdict)) {
                    badge(verdict);
                }
            }
        });
        html.element("span.short", () -> html.prose(requirement.rule()));
    }

    private void body(Requirement requirement, List<Result> variants) {
        rule(requirement);
        origin(requirement);
        for (Result result : variants) {
            html.element("section", () -> body(result));
        }
    }

    private void body(Result result) {
        if (PROBLEMS.contains(result.verdict())) {
            html.element("p", () -> link(result));
            return;
        }
        html.element("p", () -> {
            badge(result.verdict());
            variant(result);
        });
        found(result);
        measured(result);
        evidence(result);
    }

    private void link(Result result) {
        badge(result.verdict());
        variant(result);
        html.text(" ").element("a", "message, hint and evidence are above", "href", "#" + anchor(result));
    }
}
