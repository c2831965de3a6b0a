// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The forms of issues have what GitHub's schema of forms requires, and Dependabot's file names what exists. */
class IssueFormsTest {

    private static final Path FORMS = Script.ROOT.resolve(".github/ISSUE_TEMPLATE");

    private static final Set<String> KEYS =
            Set.of("name", "description", "title", "labels", "assignees", "projects", "type", "body");

    /** The attribute that an element of a type must have. */
    private static final Map<String, String> REQUIRED = Map.of(
            "markdown", "value", "input", "label", "textarea", "label", "dropdown", "options", "checkboxes", "options");

    private static final Map<String, String> MANIFESTS =
            Map.of("maven", "pom.xml", "npm", "package.json", "github-actions", "");

    private static final String GOOD = """
            name: Bug
            description: Something is wrong
            body:
              - type: dropdown
                id: part
                attributes:
                  label: Part
                  options: [one, two]
                validations:
                  required: true
            """;

    static Stream<Path> forms() throws Exception {
        try (Stream<Path> files = Files.list(FORMS)) {
            return files.filter(file -> !file.endsWith("config.yml")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void haveWhatTheSchemaRequires(Path form) throws Exception {
        assertThat(faults(Files.readString(form))).isEmpty();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/repository/broken-issue-forms.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void ofWhichOneIsBrokenAreRefused(String old, String broken, String fault) throws Exception {
        assertThat(GOOD).contains(old);

        assertThat(faults(GOOD)).isEmpty();
        assertThat(faults(GOOD.replace(old, broken))).anyMatch(found -> found.startsWith(fault));
    }

    @Test
    void ofDriversAskForTheReport() throws Exception {
        JsonNode form = Workflow.YAML.readTree(Files.readString(FORMS.resolve("driver-report.yml")));

        assertThat(form.findValuesAsText("id"))
                .contains("driver", "driver-version", "suite-version", "summary", "report", "requirements");
        assertThat(forms()).hasSizeGreaterThan(2);
    }

    @Test
    void areTheOnlyWayToOpenAnIssue() throws Exception {
        JsonNode config = Workflow.YAML.readTree(Files.readString(FORMS.resolve("config.yml")));

        assertThat(names(config)).isSubsetOf("blank_issues_enabled", "contact_links");
        assertThat(config.path("blank_issues_enabled").asBoolean(true)).isFalse();
    }

    @Test
    void dependabotUpdatesWhatExists() throws Exception {
        JsonNode file = Workflow.YAML.readTree(Files.readString(Script.ROOT.resolve(".github/dependabot.yml")));

        assertThat(file.path("version").asInt()).isEqualTo(2);
        assertThat(file.findValuesAsText("package-ecosystem")).containsExactlyInAnyOrderElementsOf(MANIFESTS.keySet());
        for (JsonNode update : file.path("updates")) {
            String manifest = MANIFESTS.get(update.path("package-ecosystem").asText());
            List<String> folders = new ArrayList<>(update.findValuesAsText("directory"));
            update.path("directories").forEach(folder -> folders.add(folder.asText()));
            assertThat(folders)
                    .isNotEmpty()
                    .allSatisfy(folder -> assertThat(
                                    Script.ROOT.resolve("./" + folder).resolve(manifest))
                            .exists());
            assertThat(update.at("/schedule/interval").asText()).isEqualTo("weekly");
            assertThat(update.path("groups")).isNotEmpty();
        }
    }

    /** Checks a form as GitHub does, and returns a sentence for each fault, which begins with the key. */
    private static List<String> faults(String text) throws Exception {
        JsonNode form = Workflow.YAML.readTree(text);
        List<String> faults = new ArrayList<>();
        names(form).stream().filter(key -> !KEYS.contains(key)).forEach(key -> faults.add(key + " is not known"));
        for (String key : List.of("name", "description")) {
            if (isBlank(form.path(key))) {
                faults.add(key + " is missing");
            }
        }
        if (form.path("body").isEmpty()) {
            faults.add("body is empty");
        }
        Set<String> ids = new HashSet<>();
        form.path("body").forEach(element -> check(element, ids, faults));
        return faults;
    }

    private static void check(JsonNode element, Set<String> ids, List<String> faults) {
        String type = element.path("type").asText();
        JsonNode attributes = element.path("attributes");
        if (!REQUIRED.containsKey(type)) {
            faults.add("type is not known: " + type);
        } else if (attributes.path(REQUIRED.get(type)).isEmpty() && isBlank(attributes.path(REQUIRED.get(type)))) {
            faults.add(REQUIRED.get(type) + " is missing: " + element);
        }
        Set<JsonNode> options = new HashSet<>();
        attributes.path("options").forEach(options::add);
        if (options.size() < attributes.path("options").size()) {
            faults.add("options has one twice: " + element);
        }
        if (!List.of("", "required").containsAll(names(element.path("validations")))) {
            faults.add("validations has another key than required: " + element);
        }
        if (type.equals("markdown")) {
            return;
        }
        if (isBlank(attributes.path("label"))) {
            faults.add("label is missing: " + element);
        }
        String id = element.path("id").asText();
        if (!id.matches("[\\w-]+") || !ids.add(id)) {
            faults.add("id is not a name, or is there twice: " + element);
        }
    }

    private static boolean isBlank(JsonNode text) {
        return !text.isTextual() || text.asText().isBlank();
    }

    private static List<String> names(JsonNode node) {
        return node.properties().stream().map(Map.Entry::getKey).toList();
    }
}
