// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.RequirementMain.Explanation;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of the documentation equals the catalogue; {@code -Dreference.update} updates it. */
class RequirementsPageTest {

    private static final Path PAGE = Path.of("../../docs-site/reference/requirements.md");
    private static final String FIRST_HEADING = "## Profiles\n";

    private final Catalogue catalogue = Catalogue.load();

    @Test
    void thePageIsRenderedFromTheCatalogue() throws IOException {
        String page = Files.readString(PAGE);
        String introduction = page.substring(0, page.indexOf(FIRST_HEADING));
        String rendered = introduction + FIRST_HEADING + "\n" + profiles() + gates() + sections();
        new ReferenceFile(PAGE).assertIs(rendered);
    }

    @Test
    void nothingOnThePageLooksLikeHtml() throws IOException {
        String outsideCode = Files.readString(PAGE).replaceAll("`[^`]*`", "");

        assertThat(outsideCode).doesNotContain("<", "{{", "`");
    }

    private String profiles() {
        return row("profile", "", "MUST", "SHOULD", "MAY", "what it requires of a driver")
                + row("---", "---", "---", "---", "---", "---")
                + catalogue.profiles().stream().map(this::profile).collect(Collectors.joining());
    }

    private String profile(Profile profile) {
        return row(
                "[%s](#%s)".formatted(profile.name(), profile.name()),
                profile.core() ? "core" : "",
                count(profile, Level.MUST),
                count(profile, Level.SHOULD),
                count(profile, Level.MAY),
                profile.title());
    }

    private String count(Profile profile, Level level) {
        return Long.toString(of(profile).filter(found -> found.level() == level).count());
    }

    private static String gates() {
        return "\n## Conditions\n\n"
                + row("condition", "holds if")
                + row("---", "---")
                + Arrays.stream(Applicability.values())
                        .map(gate -> row("`" + gate.label() + "`", gate.words()))
                        .collect(Collectors.joining());
    }

    private String sections() {
        return catalogue.profiles().stream()
                .map(profile -> "\n## %s\n\n%s.\n".formatted(profile.name(), profile.title())
                        + of(profile).map(this::section).collect(Collectors.joining()))
                .collect(Collectors.joining());
    }

    private String section(Requirement requirement) {
        return "\n### %s\n\n**%s** %s\n\n".formatted(requirement.id(), level(requirement), requirement.rule())
                + new Explanation(catalogue, requirement)
                        .parts().stream().map(part -> line(requirement, part)).collect(Collectors.joining());
    }

    private static String level(Requirement requirement) {
        return requirement.level() + (requirement.strictMust() ? " (strict: MUST)" : "");
    }

    /** Text of the heading or of the rule is not repeated. */
    private static String line(Requirement requirement, Explanation.Part part) {
        return switch (part.label()) {
            case "Rule", "Level", "Profile" -> "";
            case "Needs" -> item("Needs", links(requirement.needs()));
            case "Source" -> item("Source", requirement.source());
            default -> item(part.label(), part.text().replace("\n", "; "));
        };
    }

    private static String item(String label, String text) {
        return "- %s: %s\n".formatted(label, text);
    }

    private static String links(List<String> ids) {
        return ids.stream()
                .map(id -> "[%s](#%s)".formatted(id, id.toLowerCase(Locale.ROOT)))
                .collect(Collectors.joining(", "));
    }

    private static String row(String... cells) {
        return Stream.of(cells).collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    private Stream<Requirement> of(Profile profile) {
        return catalogue.requirements().stream()
                .filter(requirement -> requirement.profile().equals(profile.name()));
    }
}
