// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.util.StringQuotingChecker;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.RunOutcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code report.yaml}: the outcome for programs, and for collections of reports.
 *
 * <p>Within an apiVersion keys are only added.
 */
final class YamlReport {

    static final String API_VERSION = "conformance.dra4j.io/v1";
    static final String KIND = "DriverConformanceReport";

    private static final int MESSAGE = 4_000;
    private static final int SETTINGS = 100_000;

    private static final ObjectMapper YAML = YAMLMapper.builder(
                    YAMLFactory.builder().stringQuotingChecker(new Quoting()).build())
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .disable(YAMLGenerator.Feature.SPLIT_LINES)
            .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
            .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
            .enable(YAMLGenerator.Feature.LITERAL_BLOCK_STYLE)
            .build();

    /** Also quotes text that some parser reads as a number, a time or a date. */
    private static final class Quoting extends StringQuotingChecker.Default {
        private static final long serialVersionUID = 1;

        @Override
        public boolean needToQuoteValue(String value) {
            return super.needToQuoteValue(value) || value.matches("(?s)[-+.]?[0-9].*");
        }
    }

    private final RunOutcome outcome;
    private final Header header;

    YamlReport(RunOutcome outcome) {
        this.outcome = outcome;
        this.header = outcome.header();
    }

    String text() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("apiVersion", API_VERSION);
        report.put("kind", KIND);
        report.put("suite", suite());
        report.put("implementation", implementation());
        report.put("mode", mode());
        report.put("capabilities", map("detected", header.detected(), "declared", header.declared()));
        report.put("exitCode", outcome.exitCode());
        report.put("summary", Wording.headline(outcome) + ". " + Wording.sentence(outcome));
        if (!outcome.notes().isEmpty()) {
            report.put("notes", outcome.notes().stream().map(VisibleText::of).toList());
        }
        report.put(
                "profiles",
                outcome.profileOutcomes().stream().map(this::profile).toList());
        report.put("timeouts", timeouts());
        report.put("results", outcome.results().stream().map(YamlReport::result).toList());
        report.put("settings", Excerpt.head(VisibleText.of(header.settings()), SETTINGS));
        report.put("note", Wording.NO_CERTIFICATION);
        try {
            return YAML.writeValueAsString(report);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("maps, lists and strings can be written", e);
        }
    }

    private Map<String, Object> suite() {
        Map<String, Object> suite = map(
                "version", header.suiteVersion(),
                "requirements", header.catalogueVersion(),
                "seed", header.seed(),
                "k8s", header.kubernetes().version(),
                "apiServer", header.kubernetes().apiServer(),
                "started", header.started().truncatedTo(ChronoUnit.SECONDS).toString(),
                "took", header.took().truncatedTo(ChronoUnit.MILLIS).toString());
        if (header.kubernetes().featureGates() != null) {
            suite.put("featureGates", header.kubernetes().featureGates());
        }
        return suite;
    }

    private Map<String, Object> implementation() {
        Map<String, Object> map = new LinkedHashMap<>(Wording.implementation(header));
        map.put("driverName", header.driverName());
        return map;
    }

    private Map<String, Object> mode() {
        return map(
                "sut", header.driverKind(),
                "grpc", header.services(),
                "rollingUpdate", header.detected().contains(Applicability.ROLL.label()),
                "strict", header.strict());
    }

    private Map<String, Object> timeouts() {
        return map(
                "patience", header.timeoutFactor(),
                "patienceForConformance", 1,
                "contract",
                        map(
                                "getInfo", seconds(Timeouts.GET_INFO),
                                "notify", seconds(Timeouts.NOTIFY),
                                "prepare", seconds(Timeouts.PREPARE),
                                "shutdown", seconds(Timeouts.SHUTDOWN),
                                "firstHealth", seconds(Timeouts.FIRST_HEALTH)));
    }

    private static String seconds(Duration limit) {
        return limit.toSeconds() + "s";
    }

    private Map<String, Object> profile(ProfileOutcome profile) {
        Map<String, Integer> statistics = new LinkedHashMap<>();
        for (Verdict verdict : Verdict.values()) {
            statistics.put(Wording.key(verdict), profile.statistics().getOrDefault(verdict, 0));
        }
        Map<String, Object> map = map(
                "name", profile.profile().name(),
                "core", profile.profile().core(),
                "result", Wording.grade(profile).replace("not applicable", "notApplicable"),
                "statistics", statistics);
        list(map, "failed", profile, Verdict.FAIL);
        list(map, "deviations", profile, Verdict.DEVIATION);
        list(map, "suiteErrors", profile, Verdict.SUITE_ERROR);
        return map;
    }

    private void list(Map<String, Object> map, String key, ProfileOutcome profile, Verdict verdict) {
        List<Map<String, Object>> results = outcome.of(profile.profile()).stream()
                .filter(result -> result.verdict() == verdict)
                .map(YamlReport::brief)
                .toList();
        if (!results.isEmpty()) {
            map.put(key, results);
        }
    }

    private static Map<String, Object> brief(Result result) {
        Map<String, Object> map = identity(result);
        map.put("message", message(result));
        map.put("evidence", "report.html#" + HtmlResult.anchor(result));
        return map;
    }

    private static Map<String, Object> result(Result result) {
        Map<String, Object> map = identity(result);
        map.put("name", result.name());
        map.put("level", result.requirement().level().name());
        map.put("verdict", result.verdict().name());
        if (!result.message().isBlank()) {
            map.put("message", message(result));
        }
        if (!result.blockedBy().isEmpty()) {
            map.put("blockedBy", result.blockedBy());
        }
        map.put("tookMillis", result.took().toMillis());
        if (!result.measurements().isEmpty()) {
            map.put(
                    "measurements",
                    result.measurements().stream().map(YamlReport::measurement).toList());
        }
        return map;
    }

    /** A wait that was given up at the limit has the limit as its value, and is not within it. */
    private static Map<String, Object> measurement(Measured measured) {
        return map(
                "what", measured.what(),
                "value", measured.value(),
                "limit", measured.limit(),
                "unit", measured.unit().name().toLowerCase(Locale.ROOT),
                "withinLimit", !measured.isOver());
    }

    private static Map<String, Object> identity(Result result) {
        Map<String, Object> map = map("id", result.requirement().id());
        if (!result.variant().isEmpty()) {
            map.put("variant", result.variant());
        }
        return map;
    }

    private static String message(Result result) {
        return Excerpt.head(VisibleText.of(result.message()).strip(), MESSAGE);
    }

    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }
}
