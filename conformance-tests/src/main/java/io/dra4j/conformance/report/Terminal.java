// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import java.io.PrintStream;

/**
 * Where people watch a run, and what can be shown there.
 *
 * @param out what is printed goes here
 * @param unicode whether characters beyond ASCII can be shown
 * @param live whether it is a terminal, on which colours and a moving cursor make sense; a file or
 *     the log of a build is none
 */
public record Terminal(PrintStream out, boolean unicode, boolean live) {

    private static final String ESCAPE = "\u001b[";

    /** What a colour says. */
    enum Colour {
        GOOD(32),
        BAD(31),
        DOUBTFUL(33),
        ODD(35),
        QUIET(90),
        STRONG(1);

        private final int code;

        Colour(int code) {
            this.code = code;
        }
    }

    String coloured(Colour colour, String text) {
        return live && !text.isEmpty() ? ESCAPE + colour.code + "m" + text + ESCAPE + "0m" : text;
    }

    /** The one or the other, by what can be shown. */
    String either(String unicodeText, String ascii) {
        return unicode ? unicodeText : ascii;
    }

    /** Text of strangers, with nothing in it that acts on a terminal or cannot be shown there. */
    String shown(String text) {
        String visible = VisibleText.of(text);
        return unicode
                ? visible
                : visible.replace("…", "...")
                        .replace("→", "->")
                        .replace("×", "x")
                        .replace("·", "-")
                        .replaceAll("[^\\x09\\x0a\\x20-\\x7e]", "?");
    }

    /** Takes back the last lines, if the terminal can. */
    void erase(int lines) {
        if (live && lines > 0) {
            out.print(ESCAPE + lines + "A" + ESCAPE + "J");
        }
    }

    void line(String text) {
        out.print(text + System.lineSeparator());
    }

    void flush() {
        out.flush();
    }
}
