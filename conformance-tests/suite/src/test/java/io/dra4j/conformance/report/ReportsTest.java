// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** The four files, for an ordinary outcome and for one with only hostile texts. */
@Tag("slow")
class ReportsTest {

    private static final String HOSTILE =
            "</pre><script>alert(1)</script>&amp;]]>\0\u001b[31m\ud800\uffff \u202e שלום '\" # | `x` - a: b\n...\n---\n\tend";
    private static final String MEGABYTE = "<b>x</b>&".repeat(1_000_000 / 9);

    @TempDir
    private static Path directory;

    @BeforeAll
    static void write() throws IOException {
        Reports.write(SampleOutcome.ordinary(), directory.resolve("ordinary"));
        Reports.write(SampleOutcome.few(), directory.resolve("few"));
        Reports.write(hostile(HOSTILE), directory.resolve("hostile"));
        Reports.write(hostile(MEGABYTE), directory.resolve("huge"));
    }

    private static RunOutcome hostile(String text) {
        List<Result> results = new ArrayList<>();
        for (Verdict verdict : Verdict.values()) {
            Result result = SampleOutcome.result(verdict.ordinal(), "v1", verdict, "");
            results.add(SampleOutcome.saying(text, result));
        }
        String driver = Excerpt.head(text, 1000);
        return SampleOutcome.outcome(results, driver, text);
    }

    private static String read(String outcome, String file) throws IOException {
        return Files.readString(directory.resolve(outcome).resolve(file));
    }

    private static Document parsed(String text) throws Exception {
        DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
        for (String limit : List.of("maxGeneralEntitySizeLimit", "totalEntitySizeLimit")) {
            parsers.setAttribute("jdk.xml." + limit, "0"); // 100,000 on JDK 25
        }
        return parsers.newDocumentBuilder().parse(new InputSource(new StringReader(text)));
    }

    private static Stream<Element> elements(Document document, String tag) {
        NodeList found = document.getElementsByTagName(tag);
        return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i));
    }

    private static Stream<JsonNode> nodes(JsonNode list) {
        return IntStream.range(0, list.size()).mapToObj(list::get);
    }

    @ParameterizedTest
    @ValueSource(strings = {"report.yaml", "junit.xml", "coverage.md"})
    void ofAFewResultsAreThoseOfTheResources(String file) throws Exception {
        SampleOutcome.assertIs(file, read("few", file));
    }

    @Test
    void thereAreFourOfAReasonableSize() throws Exception {
        for (String outcome : List.of("ordinary", "hostile", "huge")) {
            try (Stream<Path> files = Files.list(directory.resolve(outcome))) {
                assertThat(files)
                        .hasSize(4)
                        .allSatisfy(file -> assertThat(Files.size(file)).isLessThan(3_000_000));
            }
        }
    }

    @Test
    void notesAreInEachReportAndInNoneThatHasNone() throws Exception {
        String note = "known failures: DRA-PREP-01 is listed, but did not fail: remove it from the list";
        Path noted = directory.resolve("noted");
        Reports.write(SampleOutcome.noted(note), noted);

        for (String file : List.of("report.yaml", "junit.xml", "report.html", "coverage.md")) {
            assertThat(noted.resolve(file)).content().contains(note);
            assertThat(read("ordinary", file)).doesNotContain("notes");
        }
        assertThat(elements(parsed(Files.readString(noted.resolve("junit.xml"))), "testsuite"))
                .last()
                .returns("notes", suite -> suite.getAttribute("name"))
                .returns("0", suite -> suite.getAttribute("tests"));
    }

    @Test
    void eachSaysAtItsTopWhichKubernetesItWas() throws Exception {
        String server = "Kubernetes 1.36, embedded API server; feature gates: DRADeviceTaints=false";

        assertThat(read("ordinary", "report.html")).containsSubsequence("<h1", server, "<table");
        assertThat(read("ordinary", "coverage.md")).containsSubsequence("# Coverage", server, "##");
        assertThat(elements(parsed(read("ordinary", "junit.xml")), "property"))
                .allMatch(property -> property.getAttribute("value").equals(server))
                .hasSameSizeAs(SampleOutcome.CATALOGUE.profiles());
        assertThat(new YAMLMapper().readTree(read("ordinary", "report.yaml")).at("/suite/featureGates"))
                .hasToString("{\"DRADeviceTaints\":false}");
    }

    @Test
    void whereTheyCannotBeTheMessageHasTheReason() throws Exception {
        Path file = Files.createFile(directory.resolve("taken"));

        assertThatThrownBy(() -> Reports.write(SampleOutcome.outcome(List.of()), file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Can't write the reports to " + file + ": ");
    }

    @Nested
    class Yaml {

        private JsonNode report(String outcome) throws IOException {
            return new YAMLMapper().readTree(read(outcome, "report.yaml"));
        }

        @Test
        void hostileTextComesBackAsItIsShown() throws Exception {
            JsonNode report = report("hostile");

            assertThat(nodes(report.path("results")))
                    .hasSize(Verdict.values().length)
                    .allSatisfy(result ->
                            assertThat(result.path("message").asText()).isEqualTo(VisibleText.of(HOSTILE)));
            assertThat(report.path("settings").asText()).isEqualTo(VisibleText.of(HOSTILE));
        }
    }

    @Nested
    class Junit {

        private Element testCase(String outcome, String name) throws Exception {
            return elements(parsed(read(outcome, "junit.xml")), "testcase")
                    .filter(one -> one.getAttribute("name").equals(name))
                    .findFirst()
                    .orElseThrow();
        }

        @Test
        void eachVerdictHasItsElement() throws Exception {
            List<Verdict> skipped = List.of(
                    Verdict.NOT_APPLICABLE, Verdict.BLOCKED, Verdict.UNTESTED, Verdict.SKIPPED, Verdict.DEVIATION);
            for (Verdict verdict : Verdict.values()) {
                Result result = hostile(HOSTILE).results().get(verdict.ordinal());
                Element test = testCase("hostile", result.requirement().id() + "[v1]");

                assertThat(has(test, "failure")).isEqualTo(verdict == Verdict.FAIL);
                assertThat(has(test, "error")).isEqualTo(verdict == Verdict.SUITE_ERROR);
                assertThat(has(test, "skipped")).isEqualTo(skipped.contains(verdict));
                assertThat(has(test, "system-out")).isEqualTo(verdict != Verdict.PASS && !skipped.contains(verdict));
            }
        }

        private static boolean has(Element test, String child) {
            return test.getElementsByTagName(child).getLength() > 0;
        }

        @Test
        void hostileTextStaysText() throws Exception {
            Element test = testCase(
                    "hostile", hostile("").results().get(1).requirement().id() + "[v1]");

            assertThat(test.getElementsByTagName("failure").item(0).getTextContent())
                    .startsWith(VisibleText.of(HOSTILE));
            assertThat(parsed(read("huge", "junit.xml"))
                            .getElementsByTagName("b")
                            .getLength())
                    .isZero();
        }
    }

    @Nested
    class Page {

        /** It is HTML that an XML parser understands as well; only the doctype is HTML's own. */
        private Document page(String outcome) throws Exception {
            return parsed(read(outcome, "report.html"));
        }

        @Test
        void itBeginsWithTheVerdictInWords() throws Exception {
            String text = page("ordinary").getDocumentElement().getTextContent();

            assertThat(text)
                    .contains("No verdict", "The suite itself failed in 1 check")
                    .contains("not a CNCF certification");
            assertThat(text.indexOf("Failures (2)")).isLessThan(text.indexOf("All requirements"));
        }

        @Test
        void whatWasDetectedIsShownInWords() throws Exception {
            assertThat(page("ordinary").getDocumentElement().getTextContent())
                    .contains("the driver publishes a device")
                    .contains("the driver publishes no taints")
                    .doesNotContain("this is for drivers that do not");
        }

        @Test
        void theVerdictLeadsToItsReasons() throws Exception {
            Element nav = elements(parsed(read("ordinary", "report.html")), "nav")
                    .findFirst()
                    .get();

            assertThat(nav.getTextContent()).contains("Failures (2)", "Errors of the suite (1)", "All requirements");
        }

        @Test
        void itNeedsNothingElseAndRunsNoScript() throws Exception {
            for (String outcome : List.of("ordinary", "hostile", "huge")) {
                Document page = page(outcome);

                assertThat(List.of("script", "link", "img", "iframe", "object"))
                        .allSatisfy(
                                tag -> assertThat(elements(page, tag)).as(tag).isEmpty());
                assertThat(elements(page, "a"))
                        .allSatisfy(
                                link -> assertThat(link.getAttribute("href")).startsWith("#"));
                assertThat(elements(page, "style").findFirst().orElseThrow().getTextContent())
                        .doesNotContain("url(", "@import");
            }
        }

        @Test
        void everyLinkLeadsSomewhere() throws Exception {
            for (String outcome : List.of("ordinary", "hostile")) { // the latter has few profiles
                Document page = page(outcome);
                Set<String> places = new HashSet<>();

                elements(page, "*")
                        .map(element -> element.getAttribute("id"))
                        .filter(id -> !id.isEmpty())
                        .forEach(id -> assertThat(places.add(id)).as(id).isTrue());

                assertThat(elements(page, "a"))
                        .extracting(link -> link.getAttribute("href").substring(1))
                        .isNotEmpty()
                        .isSubsetOf(places);
            }
        }

        @Test
        void everyRequirementIsThereWithItsEvidence() throws Exception {
            Document page = page("ordinary");

            assertThat(elements(page, "details").map(one -> one.getAttribute("id")))
                    .containsAll(SampleOutcome.CATALOGUE.requirements().stream()
                            .map(requirement -> "all-" + requirement.id())
                            .toList());
            assertThat(elements(page, "pre").map(Element::getTextContent))
                    .anyMatch(text -> text.contains("NodePrepareResources"))
                    .anyMatch(text -> text.contains("/resourceclaims/claim-1"))
                    .anyMatch(text -> text.contains("0600 412 bytes"))
                    .anyMatch(text -> text.contains("driver.go:88"));
        }

        @Test
        void aMeasuredValueStandsBesideItsLimit() throws Exception {
            assertThat(elements(page("ordinary"), "dd").map(Element::getTextContent))
                    .contains("60.1 s (limit 90 s)", "> 30 s (limit 30 s)");
        }

        @Test
        void hostileTextStaysText() throws Exception {
            assertThat(elements(page("hostile"), "pre").map(Element::getTextContent))
                    .contains(VisibleText.of(HOSTILE));
        }

        @Test
        void ofAPassThereIsOnlyAGlimpse() throws Exception {
            Document page = page("huge");

            assertThat(elements(page, "details"))
                    .filteredOn(one -> one.getAttribute("class").contains("quiet"))
                    .isNotEmpty()
                    .allSatisfy(one -> assertThat(one.getTextContent().length()).isLessThan(25_000));
        }
    }

    @Test
    void hostileTextIsNoMarkupOfTheCoverage() throws Exception {
        assertThat(read("hostile", "coverage.md"))
                .doesNotContainPattern("(?<!\\\\)[<&`]script|[^\\\\]&amp;|[^\\\\]`x")
                .doesNotContain("\n---\n")
                .contains("\\<script\\>");
    }
}
