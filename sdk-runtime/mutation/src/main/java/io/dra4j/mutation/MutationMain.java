// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
}
