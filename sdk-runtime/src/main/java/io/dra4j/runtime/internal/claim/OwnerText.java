// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes a message one that the kubelet can show to the owner of a pod.
 *
 * <p>It is never empty, for on the wire an empty error is success; it is valid UTF-8 without control characters, and at
 * most 4 KiB of it: the kubelet puts it into an Event, as often as it tries.
 */
final class OwnerText {

    static final String NO_REASON = "the driver gave no reason; its log may have more";

    private static final int MOST_BYTES = 4096;
    private static final String CUT = " … (the driver's log has all of it)";
    private static final int REPLACEMENT = 0xFFFD;

    private OwnerText() {}

    static String of(@Nullable String message) {
        if (message == null || message.isBlank()) {
            return NO_REASON;
        }
        String text = printable(message);
        return bytes(text) <= MOST_BYTES ? text : cut(text, MOST_BYTES - bytes(CUT)) + CUT;
    }

    private static String printable(String message) {
        StringBuilder text = new StringBuilder(message.length());
        message.codePoints()
                .map(c -> Character.getType(c) == Character.SURROGATE ? REPLACEMENT : c)
                .map(c -> Character.isISOControl(c) ? ' ' : c)
                .forEach(text::appendCodePoint);
        return text.toString();
    }

    private static String cut(String text, int most) {
        int end = 0;
        int size = 0;
        while (end < text.length()) {
            int c = text.codePointAt(end);
            size += bytes(Character.toString(c));
            if (size > most) {
                break;
            }
            end += Character.charCount(c);
        }
        return text.substring(0, end);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
