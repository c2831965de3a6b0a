// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Does the lines of a scenario: each is words and, after {@code " : "}, a text; {@code #} begins a comment. */
public interface ScenarioSteps {

    /** Does a line; a word that it does not know is a mistake in the scenario. */
    void run(String[] words, String text) throws Exception;

    /** Does all lines; a check that fails names its line. */
    default void play(String scenario) throws Exception {
        for (String line : scenario.split("\n")) {
            if (!line.startsWith("#")) {
                try {
                    step(line);
                } catch (AssertionError e) {
                    throw new AssertionError("at \"" + line + "\": " + e.getMessage(), e);
                }
            }
        }
    }

    /** Does a line, or repeats some: {@code repeat 100 : one ; another}, in which <code>{i}</code> is 0 to 59. */
    default void step(String line) throws Exception {
        String[] parts = line.split(" : ", 2);
        String[] words = parts[0].split(" ");
        if (words[0].equals("repeat")) {
            for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                for (String step : parts[1].split(" ; ")) {
                    step(step.replace("{i}", "" + i % 60));
                }
            }
        } else {
            run(words, parts.length == 1 ? "" : parts[1]);
        }
    }

    /** Returns what there is, separated by commas, or "none". */
    static String list(Stream<?> parts) {
        return list(parts, ", ");
    }

    static String list(Stream<?> parts, String separator) {
        String all = parts.map(String::valueOf).collect(Collectors.joining(separator));
        return all.isEmpty() ? "none" : all;
    }

    /** Compares a number with the one of a line, or with the limits after its first word. */
    static void assertNumber(long number, String[] words, String text) {
        assertThat(number)
                .isBetween(
                        Long.valueOf(text.isEmpty() ? words[1] : text), Long.valueOf(text.isEmpty() ? words[2] : text));
    }
}
