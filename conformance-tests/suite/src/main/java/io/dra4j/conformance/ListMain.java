// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code list}: the catalogue as a table, a line for each requirement. */
@Command(
        name = "list",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {"Print the requirements that drivers are tested against.", ""})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ListMain implements Callable<Integer> {

    private static final int ID = 14;
    private static final int LEVEL = 9;
    private static final int PROFILE = 21;
    private static final int RULE = 56;
    private static final String MORE = "...";

    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            description = "Only the requirements of this profile; may be given several times.")
    private List<String> profiles = List.of();

    @Option(
            names = "--level",
            paramLabel = "LEVEL",
            description = "Only ${COMPLETION-CANDIDATES}; may be given several times.")
    private List<Level> levels = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        Catalogue catalogue = Catalogue.load();
        checkProfiles(catalogue);
        List<Requirement> listed = catalogue.requirements().stream()
                .filter(r -> profiles.isEmpty() || profiles.contains(r.profile()))
                .filter(r -> levels.isEmpty() || levels.contains(r.level()))
                .toList();
        PrintWriter out = spec.commandLine().getOut();
        out.print(table(listed));
        out.println();
        out.println(summary(catalogue, listed));
        out.flush();
        return 0;
    }

    private void checkProfiles(Catalogue catalogue) {
        List<String> known = catalogue.profiles().stream().map(Profile::name).toList();
        for (String profile : profiles) {
            if (!known.contains(profile)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "there is no profile " + profile + "; there are " + String.join(", ", known));
            }
        }
    }

    private static TextTable table(List<Requirement> listed) {
        TextTable table = TextTable.forColumns(
                Help.defaultColorScheme(Ansi.OFF),
                new Column(ID, 0, Overflow.TRUNCATE),
                new Column(LEVEL, 0, Overflow.TRUNCATE),
                new Column(PROFILE, 0, Overflow.TRUNCATE),
                new Column(RULE, 0, Overflow.TRUNCATE));
        table.addRowValues("ID", "LEVEL", "PROFILE", "RULE");
        for (Requirement requirement : listed) {
            table.addRowValues(
                    requirement.id(),
                    requirement.level() + (requirement.strictMust() ? "*" : ""),
                    requirement.profile(),
                    shortened(requirement.rule()));
        }
        return table;
    }

    private static String shortened(String rule) {
        return rule.length() <= RULE ? rule : rule.substring(0, rule.lastIndexOf(' ', RULE - MORE.length())) + MORE;
    }

    private static String summary(Catalogue catalogue, List<Requirement> listed) {
        String counts = List.of(Level.values()).stream()
                .map(level -> count(listed, level) + " " + level)
                .collect(Collectors.joining(", "));
        boolean strict = listed.stream().anyMatch(Requirement::strictMust);
        return "%d requirements of catalogue %s: %s.%s%n`dra-conformance explain ID` shows more."
                .formatted(listed.size(), catalogue.version(), counts, strict ? " * A MUST in a strict run." : "");
    }

    private static long count(List<Requirement> listed, Level level) {
        return listed.stream()
                .filter(requirement -> requirement.level() == level)
                .count();
    }
}
