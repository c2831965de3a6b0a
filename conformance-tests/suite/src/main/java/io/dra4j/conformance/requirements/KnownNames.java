// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import io.dra4j.testkit.settings.SettingsException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** The names that have a meaning somewhere, for people who mistype one. */
public record KnownNames(List<String> names) {

    public KnownNames {
        names = List.copyOf(names);
    }

    public static KnownNames of(String... names) {
        return new KnownNames(List.of(names));
    }

    /** Throws SettingsException, with the nearest name, if a setting has one that is unknown. */
    public void requireAll(String setting, Collection<String> given) {
        for (String name : given) {
            if (!names.contains(name)) {
                throw new SettingsException("%s: %s is unknown; the nearest is %s"
                        .formatted(setting, name, String.join("", nearest(name, 1))));
            }
        }
    }

    /** Returns the names that look most like an unknown one. */
    public List<String> nearest(String name, int count) {
        return names.stream()
                .sorted(Comparator.comparingInt(known -> distance(known, name)))
                .limit(count)
                .toList();
    }

    /** Returns the number of characters to insert, remove or change. */
    private static int distance(String from, String to) {
        int[] last = IntStream.rangeClosed(0, to.length()).toArray();
        for (int i = 1; i <= from.length(); i++) {
            int[] next = new int[last.length];
            next[0] = i;
            for (int j = 1; j < next.length; j++) {
                int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
                next[j] = Math.min(last[j - 1] + change, 1 + Math.min(last[j], next[j - 1]));
            }
            last = next;
        }
        return last[to.length()];
    }
}
