// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Observability;
import io.dra4j.conformance.requirements.Requirement;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code explain}: everything in the catalogue about a requirement. */
@Command(
        name = "explain",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Explain a requirement: its rule and source, when it applies, how it is tested, and where drivers go wrong.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RequirementMain implements Callable<Integer> {

    private static final int LABEL = 10;
    private static final int TEXT = 90;

    @Parameters(arity = "1..*", paramLabel = "ID", description = "For example DRA-PREP-25, or PREP-25 for short.")
    private List<String> ids;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        Catalogue catalogue = Catalogue.load();
        List<Requirement> asked = ids.stream().map(id -> find(catalogue, id)).toList();
        PrintWriter out = spec.commandLine().getOut();
        out.print(asked.stream()
                .map(requirement -> explanation(catalogue, requirement))
                .collect(Collectors.joining("%n".formatted())));
        out.flush();
        return 0;
    }

    private Requirement find(Catalogue catalogue, String asked) {
        String id = Requirement.fullId(asked);
        return catalogue
                .find(id)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "unknown requirement " + asked + "; the nearest are " + catalogue.nearest(id)));
    }

    private static String explanation(Catalogue catalogue, Requirement requirement) {
        TextTable table = TextTable.forColumns(
                Help.defaultColorScheme(Ansi.OFF),
                new Column(LABEL, 0, Overflow.TRUNCATE),
                new Column(TEXT, 0, Overflow.WRAP));
        new Explanation(catalogue, requirement).parts().forEach(part -> table.addRowValues(part.label(), part.text()));
        return "%s%n%n%s".formatted(requirement.id(), table);
    }

    /** The catalogue's text of one requirement, in words and in the order of reading. */
    record Explanation(Catalogue catalogue, Requirement requirement) {

        /** A label and its text, which may have several lines. */
        record Part(String label, String text) {}

        List<Part> parts() {
            return Stream.of(
                            new Part("Rule", requirement.rule()),
                            new Part("Level", level()),
                            new Part("Profile", profile()),
                            new Part("Source", requirement.source().replace("; ", "\n")),
                            new Part("Reading", requirement.reading()),
                            new Part("Applies", applies()),
                            new Part("Needs", needs()),
                            new Part("Test", test()),
                            new Part("Hint", requirement.hint()))
                    .filter(part -> !part.text().isEmpty())
                    .toList();
        }

        private String level() {
            return requirement.strictMust()
                    ? requirement.level() + ", and " + Level.MUST + " in a strict run"
                    : requirement.level().toString();
        }

        private String profile() {
            return catalogue.profiles().stream()
                    .filter(profile -> profile.name().equals(requirement.profile()))
                    .map(profile -> profile.name() + (profile.core() ? ", a core profile" : ""))
                    .collect(Collectors.joining());
        }

        private String applies() {
            return Stream.of(
                            conditions("", requirement.gates(), "\nand "),
                            conditions("either ", requirement.anyGates(), "\nor "),
                            version("from Kubernetes ", requirement.since()),
                            version("up to Kubernetes ", requirement.until()))
                    .filter(text -> !text.isEmpty())
                    .collect(Collectors.joining("\n"));
        }

        private static String conditions(String before, Set<Applicability> gates, String between) {
            return gates.stream()
                    .map(gate -> "if " + gate.words() + " (" + gate.label() + ")")
                    .collect(Collectors.joining(between, gates.isEmpty() ? "" : before, ""));
        }

        private static String version(String before, String version) {
            return version.isEmpty() ? "" : before + version;
        }

        private String needs() {
            return requirement.needs().stream()
                    .map(id -> catalogue.find(id).orElseThrow())
                    .map(needed -> needed.id() + " " + needed.rule())
                    .collect(Collectors.joining("\n"));
        }

        private String test() {
            if (requirement.observability() == Observability.UNTESTED) {
                return "None: " + requirement.untested() + ".";
            }
            String chance = requirement.observability() == Observability.STOCHASTIC
                    ? " It depends on timing, so a pass proves nothing."
                    : "";
            String services = requirement.perService() ? " Once with each DRA service of the driver." : "";
            return requirement.test() + chance + services;
        }
    }
}
