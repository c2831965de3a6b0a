// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.stream.Collectors;

/** Writes lists of names that are not too long. */
final class NameList {
    static final int MOST = 5;

    private NameList() {}

    /** The first names, and how many more there are. */
    static String some(Collection<String> names) {
        String first = names.stream().limit(MOST).collect(Collectors.joining(", "));
        return names.size() <= MOST ? first : first + " and %,d more".formatted(names.size() - MOST);
    }

    /** A number with its noun; the plural has an s. */
    static String count(long number, String noun) {
        return number == 1 ? "1 " + noun : "%,d %ss".formatted(number, noun);
    }

    /** Returns how long ago a time was, as in {@code 3 h ago}, or else the text as it is. */
    static String ago(String time, Instant now) {
        String age = age(time, now);
        return age.startsWith("for ") ? age.substring(4) + " ago" : "at " + time;
    }

    /** Returns how long ago a time was, in its largest unit, or else the text as it is. */
    static String age(String time, Instant now) {
        try {
            Duration age = Duration.between(Instant.parse(time), now);
            if (age.toHours() >= 48) {
                return "for %,d days".formatted(age.toDays());
            }
            return age.toMinutes() >= 120
                    ? "for %d h".formatted(age.toHours())
                    : "for %d min".formatted(Math.max(0, age.toMinutes()));
        } catch (DateTimeParseException e) {
            return "since " + time;
        }
    }
}
