// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A page of the documentation with the verdicts of conformance runs, a part for each; tests that run the suite compare
 * theirs.
 *
 * <p>A part contains only what is the same in each run: verdicts, but no times. Requirements that a run did not try
 * keep the verdict that they have on the page, so that a run of few compares few; {@code -Dreference.update=true}
 * writes what it found. Parts of one page may be compared by several threads.
 */
public final class VerdictPage {

    private static final Pattern ROW = Pattern.compile("\\| ([a-z-]+) \\| ([a-z, ]+) \\| .*");
    private static final Pattern ID = Pattern.compile("\\[(DRA-[A-Z0-9]+-\\d+)]");

    private final Path file;
    private final Predicate<String> known;

    /**
     * A page.
     *
     * @param known true for the ids that the catalogue has; others leave the page
     */
    public VerdictPage(Path file, Predicate<String> known) {
        this.file = file;
        this.known = known;
    }

    /**
     * Compares the part of a run with what the run found, or updates it.
     *
     * @param run names the part: it stands between {@code <!-- RUN -->} and {@code <!-- /RUN -->}
     * @param found the verdicts of what was tried, by the names of results: {@code node-core.DRA-PREP-03[v1]}, say
     */
    public void assertHolds(String run, Map<String, ? extends Enum<?>> found) throws IOException {
        assertThat(found).isNotEmpty();
        synchronized (VerdictPage.class) {
            String expected = after(Files.readString(file), run, found);
            new ReferenceFile(file).assertIs(expected);
        }
    }

    /** Returns the text of the page after a run. */
    String after(String page, String run, Map<String, ? extends Enum<?>> found) {
        String begin = "<!-- %s -->\n".formatted(run);
        String end = "<!-- /%s -->\n".formatted(run);
        assertThat(page).as("%s has a place for %s", file, run).containsSubsequence(begin, end);
        int from = page.indexOf(begin) + begin.length();
        int to = page.indexOf(end);
        Map<Requirement, String> verdicts = parsed(page.substring(from, to));
        verdicts.keySet().removeIf(one -> !known.test(one.id()));
        byRequirement(found).forEach((one, several) -> verdicts.put(one, String.join(", ", several)));
        return page.substring(0, from) + table(verdicts) + page.substring(to);
    }

    /** A requirement that was tried in several versions of the service may have several verdicts. */
    private static Map<Requirement, Set<String>> byRequirement(Map<String, ? extends Enum<?>> found) {
        Map<Requirement, Set<String>> verdicts = new TreeMap<>();
        found.forEach((name, verdict) -> verdicts.computeIfAbsent(Requirement.of(name), any -> new TreeSet<>())
                .add(label(verdict)));
        return verdicts;
    }

    private static String label(Enum<?> verdict) {
        return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static Map<Requirement, String> parsed(String part) {
        Map<Requirement, String> verdicts = new TreeMap<>();
        ROW.matcher(part).results().forEach(row -> {
            Matcher ids = ID.matcher(row.group());
            while (ids.find()) {
                verdicts.put(new Requirement(row.group(1), ids.group(1)), row.group(2));
            }
        });
        return verdicts;
    }

    private static String table(Map<Requirement, String> verdicts) {
        Map<String, Map<String, Set<String>>> grouped = new TreeMap<>();
        verdicts.forEach((one, verdict) -> grouped.computeIfAbsent(one.profile(), any -> new TreeMap<>())
                .computeIfAbsent(verdict, any -> new TreeSet<>())
                .add(one.id()));
        StringBuilder table = new StringBuilder("\n| profile | verdict | | requirements |\n");
        table.append("|---|---|---|---|\n");
        grouped.forEach((profile, byVerdict) -> byVerdict.forEach((verdict, ids) -> row(table, profile, verdict, ids)));
        return table.append('\n').toString();
    }

    private static void row(StringBuilder table, String profile, String verdict, Set<String> ids) {
        String links = ids.stream()
                .map(id -> "[%1$s](requirements.md#%2$s)".formatted(id, anchor(id)))
                .collect(Collectors.joining(", "));
        table.append("| %s | %s | %d | %s |%n".formatted(profile, verdict, ids.size(), links));
    }

    private static String anchor(String id) {
        return id.toLowerCase(Locale.ROOT);
    }

    private record Requirement(String profile, String id) implements Comparable<Requirement> {

        private static final Comparator<Requirement> ORDER =
                Comparator.comparing(Requirement::profile).thenComparing(Requirement::id);

        static Requirement of(String name) {
            String[] parts = name.replaceFirst("\\[.*", "").split("\\.");
            return new Requirement(parts[0], parts[1]);
        }

        @Override
        public int compareTo(Requirement other) {
            return ORDER.compare(this, other);
        }
    }
}
