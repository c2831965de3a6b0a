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
import java.util.Set;

/** The program of {@code .ci/mutation}, after PIT. */
record MutationMain(Path root, PrintStream out) {
    static final String REPORT = "target/mutation/mutations.xml";

    /**
     * Reads reports of modules.
     *
     * @param arguments {@code check}, {@code update} or {@code whole}, which compares nothing, {@code mutants} or
     *     {@code branches}, and modules; or {@code without}, a module, and tests
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
            if (!branches) {
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
                out.println(name + " is not in the matrix of " + module + ", which says nothing about it");
                return false;
            }
            tests.addAll(found);
        }
        List<Matrix.Mutant> lost =
                matrix.mutants().stream().filter(mutant -> mutant.needs(tests)).toList();
        lost.forEach(mutant -> out.println(mutant.place()));
        out.println("Without these " + tests.size() + " tests " + lost.size() + " more mutants survive");
        return lost.isEmpty();
    }
}
