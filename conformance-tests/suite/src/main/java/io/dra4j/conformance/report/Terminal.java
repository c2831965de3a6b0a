// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The terminal on which people watch a run, and its capabilities.
 *
 * @param unicode whether characters beyond ASCII can be shown
 * @param live whether it is a terminal, on which colours and a moving cursor make sense, unlike a file or the log of a
 * build
 */
public record Terminal(PrintStream out, boolean unicode, boolean live) {

    /** Characters that a charset of Unicode can encode. */
    private static final String SAMPLE = "✓✗…→×·";

    private static final String ESCAPE = "\u001b[";

    /** The meaning of a colour. */
    enum Colour {
        GOOD(32),
        BAD(31),
        DOUBTFUL(33),
        OTHER(35),
        QUIET(90),
        STRONG(1);

        private final int code;

        Colour(int code) {
            this.code = code;
        }
    }

    /** The terminal, or its substitute, at the end of a stream of this process; a console has a person. */
    public static Terminal of(PrintStream out, boolean console) {
        // the charset of the standard streams has its own property since JDK 19
        String name = System.getProperty("stdout.encoding", System.getProperty("native.encoding"));
        return of(out, console, name, System.getenv());
    }

    /** The same, with all that it depends on. */
    static Terminal of(PrintStream out, boolean console, @Nullable String charset, Map<String, String> environment) {
        boolean unicode = charset != null
                && Charset.isSupported(charset)
                && Charset.forName(charset).newEncoder().canEncode(SAMPLE);
        boolean live = console
                && !environment.containsKey("CI")
                && environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "").equals("dumb");
        return new Terminal(out, unicode, live);
    }

    String coloured(Colour colour, String text) {
        return live && !text.isEmpty() ? ESCAPE + colour.code + "m" + text + ESCAPE + "0m" : text;
    }

    /** Chooses one of two texts, by what can be shown. */
    String either(String unicodeText, String ascii) {
        return unicode ? unicodeText : ascii;
    }

    /** Foreign text without characters that act on a terminal or cannot be shown there. */
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

    /** Erases the last lines, if the terminal can. */
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
