// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.RunOutcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.StringWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * {@code junit.xml}: the outcome for continuous integration.
 *
 * <p>A test's class is its profile and its name the requirement with the variant, so that tools
 * show {@code node-core.DRA-PREP-03[v1]}: names that may be quoted, and never change.
 */
final class JunitReport {

    private static final int TEXT = 16_000;
    private static final int ATTRIBUTE = 300;

    private final RunOutcome outcome;
    private final StringWriter text = new StringWriter();

    JunitReport(RunOutcome outcome) {
        this.outcome = outcome;
    }

    String text() {
        try {
            XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(text);
            xml.writeStartDocument("UTF-8", "1.0");
            suites(xml);
            xml.writeEndDocument();
            xml.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("nothing but XML is written, into memory", e);
        }
        return text.append('\n').toString();
    }

    private void suites(XMLStreamWriter xml) throws XMLStreamException {
        start(xml, "testsuites", 0);
        attribute(xml, "name", "dra-conformance");
        counts(xml, outcome.results());
        for (ProfileOutcome profile : outcome.profileOutcomes()) {
            suite(xml, profile.profile());
        }
        notes(xml);
        end(xml, 0);
    }

    /** A suite without tests, for notes that concern no test. */
    private void notes(XMLStreamWriter xml) throws XMLStreamException {
        if (!outcome.notes().isEmpty()) {
            start(xml, "testsuite", 1);
            attribute(xml, "name", "notes");
            counts(xml, List.of());
            element(xml, "system-out", 2, String.join("\n", outcome.notes()));
            end(xml, 1);
        }
    }

    private void suite(XMLStreamWriter xml, Profile profile) throws XMLStreamException {
        List<Result> results = outcome.of(profile);
        start(xml, "testsuite", 1);
        attribute(xml, "name", profile.name());
        counts(xml, results);
        attribute(
                xml,
                "timestamp",
                outcome.header().started().truncatedTo(ChronoUnit.SECONDS).toString());
        properties(xml);
        for (Result result : results) {
            testCase(xml, result);
        }
        end(xml, 1);
    }

    private void properties(XMLStreamWriter xml) throws XMLStreamException {
        start(xml, "properties", 2);
        start(xml, "property", 3);
        attribute(xml, "name", "kubernetes");
        attribute(xml, "value", outcome.header().kubernetes().text());
        xml.writeEndElement();
        end(xml, 2);
    }

    private static void counts(XMLStreamWriter xml, List<Result> results) throws XMLStreamException {
        attribute(xml, "tests", "" + results.size());
        attribute(xml, "failures", count(results, one -> one.verdict() == Verdict.FAIL));
        attribute(xml, "errors", count(results, one -> one.verdict() == Verdict.SUITE_ERROR));
        attribute(xml, "skipped", count(results, JunitReport::skipped));
        Duration took = results.stream().map(Result::took).reduce(Duration.ZERO, Duration::plus);
        attribute(xml, "time", seconds(took));
    }

    private static String count(List<Result> results, Predicate<Result> which) {
        return Long.toString(results.stream().filter(which).count());
    }

    private static boolean skipped(Result result) {
        return switch (result.verdict()) {
            case NOT_APPLICABLE, BLOCKED, UNTESTED, SKIPPED, DEVIATION -> true;
            case PASS, WARN, INFO, FAIL, SUITE_ERROR -> false;
        };
    }

    private static void testCase(XMLStreamWriter xml, Result result) throws XMLStreamException {
        String profile = result.requirement().profile();
        start(xml, "testcase", 2);
        attribute(xml, "classname", profile);
        attribute(xml, "name", result.name().substring(profile.length() + 1));
        attribute(xml, "time", seconds(result.took()));
        switch (result.verdict()) {
            case FAIL -> problem(xml, "failure", result);
            case SUITE_ERROR -> problem(xml, "error", result);
            case WARN, INFO ->
                element(xml, "system-out", 3, Wording.label(result.verdict()) + ": " + explanation(result));
            case PASS -> measured(xml, result);
            default -> {
                start(xml, "skipped", 3);
                attribute(
                        xml,
                        "message",
                        Wording.label(result.verdict()) + ": "
                                + result.message().strip());
                xml.writeEndElement();
                measured(xml, result);
            }
        }
        end(xml, 2);
    }

    private static void measured(XMLStreamWriter xml, Result result) throws XMLStreamException {
        if (!result.measurements().isEmpty()) {
            element(xml, "system-out", 3, measured(result));
        }
    }

    private static String measured(Result result) {
        return result.measurements().stream()
                .map(Measured::toString)
                .collect(Collectors.joining("\nMeasured: ", "Measured: ", ""));
    }

    private static void problem(XMLStreamWriter xml, String element, Result result) throws XMLStreamException {
        start(xml, element, 3);
        attribute(xml, "message", Excerpt.line(result.message(), ATTRIBUTE));
        attribute(xml, "type", result.requirement().level().name());
        characters(xml, explanation(result));
        xml.writeEndElement();
        String calls = String.join("\n", result.evidence().calls());
        if (!calls.isEmpty()) {
            element(xml, "system-out", 3, Excerpt.tail(calls, TEXT));
        }
    }

    private static void element(XMLStreamWriter xml, String name, int depth, String text) throws XMLStreamException {
        start(xml, name, depth);
        characters(xml, text);
        xml.writeEndElement();
    }

    private static String explanation(Result result) {
        Requirement requirement = result.requirement();
        StringBuilder words = new StringBuilder(Excerpt.head(result.message().strip(), TEXT));
        words.append("\n\n").append(requirement.id()).append(", ").append(requirement.level());
        words.append(": ").append(requirement.rule());
        words.append("\nSource: ").append(requirement.source());
        if (!requirement.hint().isEmpty()) {
            words.append("\nHint: ").append(requirement.hint());
        }
        if (!result.measurements().isEmpty()) {
            words.append('\n').append(measured(result));
        }
        return words.toString();
    }

    private static String seconds(Duration took) {
        return String.format(Locale.ROOT, "%.3f", took.toMillis() / 1000.0);
    }

    private static void start(XMLStreamWriter xml, String name, int depth) throws XMLStreamException {
        xml.writeCharacters("\n" + "  ".repeat(depth));
        xml.writeStartElement(name);
    }

    private static void end(XMLStreamWriter xml, int depth) throws XMLStreamException {
        xml.writeCharacters("\n" + "  ".repeat(depth));
        xml.writeEndElement();
    }

    private static void attribute(XMLStreamWriter xml, String name, String value) throws XMLStreamException {
        xml.writeAttribute(name, Excerpt.head(VisibleText.of(value), 4 * ATTRIBUTE));
    }

    private static void characters(XMLStreamWriter xml, String value) throws XMLStreamException {
        xml.writeCharacters(VisibleText.of(value));
    }
}
