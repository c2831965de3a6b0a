// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        Map<String, String> verdicts = parsed(page.substring(from, to));
        verdicts.keySet().removeIf(one -> !known.test(one.split(" ")[1]));
        byRequirement(found).forEach((one, several) -> verdicts.put(one, String.join(", ", several)));
        return page.substring(0, from) + table(verdicts) + page.substring(to);
    }

    /** A requirement that was tried in several versions of the service may have several verdicts. */
    private static Map<String, Set<String>> byRequirement(Map<String, ? extends Enum<?>> found) {
        Map<String, Set<String>> verdicts = new TreeMap<>();
        found.forEach((name, verdict) -> verdicts.computeIfAbsent(requirement(name), any -> new TreeSet<>())
                .add(label(verdict)));
        return verdicts;
    }

    /** The profile and the id of a result. */
    private static String requirement(String name) {
        String[] parts = name.replaceFirst("\\[.*", "").split("\\.");
        return parts[0] + " " + parts[1];
    }

    private static String label(Enum<?> verdict) {
        return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static Map<String, String> parsed(String part) {
        Map<String, String> verdicts = new TreeMap<>();
        ROW.matcher(part).results().forEach(row -> {
            Matcher ids = ID.matcher(row.group());
            while (ids.find()) {
                verdicts.put(row.group(1) + " " + ids.group(1), row.group(2));
            }
        });
        return verdicts;
    }

    private static String table(Map<String, String> verdicts) {
        Map<String, Map<String, Set<String>>> grouped = new TreeMap<>();
        verdicts.forEach((one, verdict) -> grouped.computeIfAbsent(one.split(" ")[0], any -> new TreeMap<>())
                .computeIfAbsent(verdict, any -> new TreeSet<>())
                .add(one.split(" ")[1]));
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
}
