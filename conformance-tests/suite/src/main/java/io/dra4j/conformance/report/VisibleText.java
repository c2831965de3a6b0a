// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

/**
 * Foreign text made safe to show: characters that would act on a page or a terminal become visible.
 *
 * <p>A driver's log may hold escape sequences that colour a terminal, characters that reverse the direction of the text
 * after them, and characters that XML forbids. Each such character is written as its number, {@code \}{@code u001b};
 * line breaks and tabs stay.
 */
final class VisibleText {

    private VisibleText() {}

    static String of(String text) {
        if (text.chars().allMatch(one -> one >= ' ' && one < 0x7f || one == '\n')) {
            return text;
        }
        StringBuilder visible = new StringBuilder(text.length() + 16);
        text.replace("\r\n", "\n").codePoints().forEach(one -> append(visible, one));
        return visible.toString();
    }

    private static void append(StringBuilder visible, int character) {
        if (shown(character)) {
            visible.appendCodePoint(character);
        } else {
            visible.append(String.format("\\u%04x", character));
        }
    }

    private static boolean shown(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL -> character == '\n' || character == '\t';
            // format characters change the direction or are invisible; joiners are part of scripts and emoji
            case Character.FORMAT -> character == 0x200c || character == 0x200d;
            case Character.SURROGATE, Character.UNASSIGNED, Character.LINE_SEPARATOR -> false;
            case Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
