// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import java.io.PrintStream;
import java.util.List;

/** Prints what happens: numbered steps, and lines below them. */
final class Narrator {

    private final PrintStream out;
    private int steps;
    private String current = "";

    Narrator(PrintStream out) {
        this.out = out;
    }

    void step(String title) {
        steps++;
        current = steps + ". " + title;
        out.println((steps == 1 ? "" : "\n") + current);
    }

    /** A line of the step, indented by its level. */
    void line(int level, String text) {
        out.println("   ".repeat(level) + text);
    }

    void lines(int level, List<String> texts) {
        texts.forEach(text -> line(level, text));
    }

    void success() {
        out.println("\nAll " + steps + " steps passed.");
    }

    void failure(String why) {
        out.println("\nFAILED in step " + current + "\n   " + why);
    }

    void output(String driver, List<String> lastLines) {
        if (!lastLines.isEmpty()) {
            out.println("\nThe last lines of the output of " + driver + ":");
            lines(1, lastLines);
        }
    }

    void text(String paragraph) {
        out.println(paragraph);
    }
}
