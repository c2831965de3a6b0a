// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.QuotedText;
import java.nio.charset.StandardCharsets;

/** Finds the first character of a text that JSON forbids there, and names it as Go does. */
final class JsonSyntax {
    private static final String HEX = "0123456789abcdefABCDEF";
    private static final String ESCAPES = "\"\\/bfnrt";

    /** Trees are read to this depth here; the real server goes ten times deeper. */
    private static final int DEEPEST = 1000;

    private final byte[] text;
    private int at;
    private int depth;

    private JsonSyntax(byte[] text) {
        this.text = text;
    }

    /** Describes the problem of the text; empty if it is JSON. */
    static String problem(byte[] text) {
        JsonSyntax syntax = new JsonSyntax(text);
        try {
            syntax.value("looking for beginning of value");
            syntax.skipSpace();
            if (syntax.at < text.length) {
                throw syntax.unexpected("after top-level value");
            }
            return "";
        } catch (Unexpected e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Ends the reading of the text. */
    private static final class Unexpected extends Exception {
        private static final long serialVersionUID = 1L;

        Unexpected(String message) {
            super(message);
        }
    }

    private Unexpected unexpected(String where) {
        if (at >= text.length) {
            return new Unexpected("unexpected end of JSON input");
        }
        return new Unexpected("invalid character " + quoted(text[at] & 0xff) + " " + where);
    }

    private static String quoted(int character) {
        if (character == '\'' || character == '"') {
            return character == '"' ? "'\"'" : "'\\''";
        }
        String text = QuotedText.of(Character.toString(character));
        return "'" + text.substring(1, text.length() - 1) + "'";
    }

    private int next(String where) throws Unexpected {
        if (at >= text.length) {
            throw unexpected(where);
        }
        return text[at];
    }

    private void skipSpace() {
        while (at < text.length && " \t\r\n".indexOf(text[at]) >= 0) {
            at++;
        }
    }

    private void value(String where) throws Unexpected {
        skipSpace();
        switch (next(where)) {
            case '{', '[' -> nested();
            case '"' -> string();
            case 't' -> literal("true");
            case 'f' -> literal("false");
            case 'n' -> literal("null");
            default -> number(where);
        }
    }

    private void nested() throws Unexpected {
        if (++depth > DEEPEST) {
            throw new Unexpected("exceeded max depth");
        }
        if (text[at] == '{') {
            object();
        } else {
            array();
        }
        depth--;
    }

    private void object() throws Unexpected {
        at++;
        skipSpace();
        if (next("") == '}') {
            at++;
            return;
        }
        while (true) {
            key();
            value("looking for beginning of value");
            skipSpace();
            int end = next("");
            if (end != ',' && end != '}') {
                throw unexpected("after object key:value pair");
            }
            at++;
            if (end == '}') {
                return;
            }
        }
    }

    private void key() throws Unexpected {
        skipSpace();
        if (next("") != '"') {
            throw unexpected("looking for beginning of object key string");
        }
        string();
        skipSpace();
        if (next("") != ':') {
            throw unexpected("after object key");
        }
        at++;
    }

    private void array() throws Unexpected {
        at++;
        skipSpace();
        if (next("") == ']') {
            at++;
            return;
        }
        while (true) {
            value("looking for beginning of value");
            skipSpace();
            int end = next("");
            if (end != ',' && end != ']') {
                throw unexpected("after array element");
            }
            at++;
            if (end == ']') {
                return;
            }
        }
    }

    private void string() throws Unexpected {
        at++;
        while (next("") != '"') {
            if ((text[at] & 0xff) < 0x20) {
                throw unexpected("in string literal");
            }
            if (text[at++] == '\\') {
                escape();
            }
        }
        at++;
    }

    private void escape() throws Unexpected {
        int kind = next("");
        if (kind != 'u' && ESCAPES.indexOf(kind) < 0) {
            throw unexpected("in string escape code");
        }
        at++;
        for (int i = 0; kind == 'u' && i < 4; i++) {
            if (HEX.indexOf(next("")) < 0) {
                throw unexpected("in \\u hexadecimal character escape");
            }
            at++;
        }
    }

    private void literal(String word) throws Unexpected {
        for (byte expected : word.getBytes(StandardCharsets.US_ASCII)) {
            if (next("") != expected) {
                throw unexpected("in literal " + word + " (expecting '" + (char) expected + "')");
            }
            at++;
        }
    }

    private void number(String where) throws Unexpected {
        if (text[at] == '-') {
            at++;
            if (!isDigit()) {
                throw unexpected("in numeric literal");
            }
        } else if (!isDigit()) {
            throw unexpected(where);
        }
        if (text[at] == '0') {
            at++;
        } else {
            digits();
        }
        if (at < text.length && text[at] == '.') {
            at++;
            requireDigits("after decimal point in numeric literal");
        }
        if (at < text.length && (text[at] == 'e' || text[at] == 'E')) {
            at++;
            if (at < text.length && (text[at] == '+' || text[at] == '-')) {
                at++;
            }
            requireDigits("in exponent of numeric literal");
        }
    }

    private void requireDigits(String where) throws Unexpected {
        if (!isDigit()) {
            throw unexpected(where);
        }
        digits();
    }

    private void digits() {
        while (isDigit()) {
            at++;
        }
    }

    private boolean isDigit() {
        return at < text.length && text[at] >= '0' && text[at] <= '9';
    }
}
