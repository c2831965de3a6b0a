// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/** The program of {@code .ci/mutation}, after PIT. */
record MutationMain(Path root, PrintStream out) {
    static final String REPORT = "target/mutation/mutations.xml";

    /**
     * Reads reports of modules.
     *
     * @param arguments {@code check}, {@code update} or {@code whole}, which compares nothing; then {@code mutants} or
     * {@code branches}, and the modules. Or {@code without}, then a module and tests
     */
    public static void main(String[] arguments) throws IOException {
        if (!new MutationMain(Path.of(""), System.out).run(List.of(arguments))) {
            System.exit(1);
        }
    }

    boolean run(List<String> arguments) throws IOException {
        String second = arguments.get(1);
        List<String> rest = arguments.subList(2, arguments.size());
        String verb = arguments.get(0);
        return switch (verb) {
            case "check", "update", "whole" -> measure(verb, second.equals("branches"), rest);
            case "without" -> without(second, rest);
            default -> throw new IllegalArgumentException(verb + " is not check, update, whole or without");
        };
    }

    private boolean measure(String verb, boolean branches, List<String> modules) throws IOException {
        Baseline baseline = new Baseline(root.resolve(".ci/mutation.csv"));
        List<String> problems = new ArrayList<>();
        for (String module : modules) {
            Path folder = root.resolve(module);
            Baseline.Row now = branches ? Baseline.branches(folder) : Baseline.mutants(folder);
            out.println(
                    module + (branches ? ": covered branches " + now.covered() : ": killed mutants " + now.killed()));
            if (verb.equals("whole")) {
                Files.write(
                        folder.resolve("target/mutation/tests.tsv"),
                        Matrix.read(folder.resolve(REPORT)).table());
            }
            if (verb.equals("update")) {
                baseline.update(module, now);
            } else if (verb.equals("check")) {
                problems.addAll(baseline.problems(module, now));
            }
        }
        problems.forEach(out::println);
        return problems.isEmpty();
    }

    /** Prints the mutants that no other test is known to kill. */
    private boolean without(String module, List<String> names) throws IOException {
        Matrix matrix = Matrix.read(root.resolve(module).resolve(REPORT));
        Set<String> tests = new HashSet<>();
        for (String name : names) {
            Set<String> found = matrix.testsOf(name);
            if (found.isEmpty()) {
                out.println(name + " is not in the matrix of " + module + ", so its effect is unknown");
                return false;
            }
            tests.addAll(found);
        }
        List<Matrix.Mutant> lost =
                matrix.mutants().stream().filter(mutant -> mutant.needs(tests)).toList();
        lost.forEach(mutant -> out.println(mutant.place()));
        out.println("Without these " + tests.size() + " tests, " + lost.size() + " more mutants survive");
        return lost.isEmpty();
    }

    /** The committed shares of each module, and those of the last runs. */
    private static final class Baseline {
        private static final String HEADER = "module,killed,mutants,covered,branches";

        /** The shares of a module; null if not measured. */
        record Row(@Nullable Share killed, @Nullable Share covered) {

            Row or(@Nullable Row other) {
                return other == null
                        ? this
                        : new Row(killed == null ? other.killed : killed, covered == null ? other.covered : covered);
            }
        }

        private final Path file;
        private final Map<String, Row> rows = new TreeMap<>();

        Baseline(Path file) throws IOException {
            this.file = file;
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] cells = line.split(",", -1);
                if (!line.equals(HEADER)) {
                    rows.put(cells[0], new Row(share(cells[1], cells[2]), share(cells[3], cells[4])));
                }
            }
        }

        private static @Nullable Share share(String part, String whole) {
            return whole.isEmpty() ? null : new Share(Long.parseLong(part), Long.parseLong(whole));
        }

        /** Reads the report of PIT in a module's folder. */
        static Row mutants(Path module) throws IOException {
            return new Row(Matrix.read(module.resolve(MutationMain.REPORT)).killed(), null);
        }

        /** Reads the report of JaCoCo in a module's folder. */
        static Row branches(Path module) throws IOException {
            return new Row(null, covered(Files.readAllLines(module.resolve("target/coverage/jacoco.csv"))));
        }

        private static Share covered(List<String> lines) {
            List<String> header = List.of(lines.get(0).split(","));
            long missed = 0;
            long covered = 0;
            for (String line : lines.subList(1, lines.size())) {
                String[] cells = line.split(",");
                missed += Long.parseLong(cells[header.indexOf("BRANCH_MISSED")]);
                covered += Long.parseLong(cells[header.indexOf("BRANCH_COVERED")]);
            }
            return new Share(covered, covered + missed);
        }

        /** The drops of a module's shares below the committed ones, as sentences. */
        List<String> problems(String module, Row now) {
            Row before = rows.get(module);
            List<String> problems = new ArrayList<>();
            if (before == null) {
                return List.of(module + " has no line in " + file + ": add it with `.ci/mutation --update`");
            }
            compare(module + ": killed mutants", before.killed, now.killed, problems);
            compare(module + ": covered branches", before.covered, now.covered, problems);
            return problems;
        }

        private void compare(String subject, @Nullable Share before, @Nullable Share now, List<String> problems) {
            if (now == null) {
                return; // the run measured the other share
            }
            if (before == null) {
                problems.add(subject + ": " + file + " has no number: add it with `.ci/mutation --update`");
            } else if (now.isFallenFrom(before)) {
                problems.add(subject + " fell from " + before + " to " + now);
            }
        }

        void update(String module, Row now) throws IOException {
            rows.put(module, now.or(rows.get(module)));
            List<String> lines = new ArrayList<>(List.of(HEADER));
            rows.forEach((name, row) -> lines.add(name + cells(row.killed) + cells(row.covered)));
            Files.write(file, lines);
        }

        private static String cells(@Nullable Share share) {
            return share == null ? ",," : "," + share.part() + "," + share.whole();
        }
    }

    /** The mutants of a module and the tests that kill them, from a report of PIT. */
    private record Matrix(List<Mutant> mutants) {

        /**
         * A mutant and its tests.
         *
         * @param killers empty if it survives, or was killed by a time limit, when PIT can't name the test
         * @param covering the tests that execute its code
         */
        record Mutant(String place, boolean killed, Set<String> killers, Set<String> covering) {

            boolean needs(Collection<String> tests) {
                return killed && tests.containsAll(killers.isEmpty() ? covering : killers);
            }
        }

        static Matrix read(Path report) throws IOException {
            List<Mutant> mutants = new ArrayList<>();
            Map<String, String> names = new HashMap<>(); // hundreds of tests, each named thousands of times
            try (InputStream in = Files.newInputStream(report)) {
                XMLStreamReader xml = XMLInputFactory.newDefaultFactory().createXMLStreamReader(in);
                while (xml.hasNext()) {
                    if (xml.next() == XMLStreamReader.START_ELEMENT
                            && xml.getLocalName().equals("mutation")) {
                        mutants.add(mutant(xml, names));
                    }
                }
            } catch (XMLStreamException e) {
                throw new IOException(report + " is not a report of PIT: " + e.getMessage(), e);
            }
            return new Matrix(mutants);
        }

        private static Mutant mutant(XMLStreamReader xml, Map<String, String> names) throws XMLStreamException {
            boolean killed = Boolean.parseBoolean(xml.getAttributeValue(null, "detected"));
            Map<String, StringBuilder> texts = new HashMap<>();
            StringBuilder text = new StringBuilder();
            while (xml.next() != XMLStreamReader.END_ELEMENT
                    || !xml.getLocalName().equals("mutation")) {
                if (xml.isStartElement()) {
                    text = texts.computeIfAbsent(xml.getLocalName(), name -> new StringBuilder());
                } else if (xml.isCharacters()) {
                    text.append(xml.getText());
                }
            }
            String place = texts.get("mutatedClass") + "." + texts.get("mutatedMethod") + ":" + texts.get("lineNumber")
                    + ": " + texts.get("description");
            return new Mutant(place, killed, tests(texts, "killingTests", names), tests(texts, "coveringTests", names));
        }

        /** Without the matrix, PIT writes one {@code killingTest} instead of these lists. */
        private static Set<String> tests(Map<String, StringBuilder> texts, String element, Map<String, String> names) {
            return Stream.of(texts.getOrDefault(element, new StringBuilder())
                            .toString()
                            .split("\\|"))
                    .filter(name -> !name.isEmpty())
                    .map(name -> names.computeIfAbsent(name, same -> same))
                    .collect(Collectors.toSet());
        }

        Share killed() {
            return new Share(mutants.stream().filter(Mutant::killed).count(), mutants.size());
        }

        /** A line for each test: how many mutants it kills, how many of them no other test kills, and its name. */
        List<String> table() {
            Map<String, int[]> counts = new TreeMap<>();
            for (Mutant mutant : mutants) {
                mutant.covering().forEach(test -> counts.computeIfAbsent(test, name -> new int[2]));
                for (String test : mutant.killers()) {
                    int[] count = counts.computeIfAbsent(test, name -> new int[2]);
                    count[0]++;
                    count[1] += mutant.killers().size() == 1 ? 1 : 0;
                }
            }
            List<String> lines = new ArrayList<>(List.of("kills\talone\ttest"));
            counts.forEach((test, count) -> lines.add(count[0] + "\t" + count[1] + "\t" + test));
            return lines;
        }

        /** The tests of a class, of a nested class or of a method, which may be named without its parameters. */
        Set<String> testsOf(String name) {
            return mutants.stream()
                    .flatMap(mutant -> mutant.covering().stream())
                    .filter(test -> test.equals(name) || test.startsWith(name + ".") || test.startsWith(name + "("))
                    .collect(Collectors.toSet());
        }
    }
}
