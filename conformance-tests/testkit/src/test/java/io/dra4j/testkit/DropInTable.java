// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The flags and variables of a driver in Go, and how each is handled here, as a table. */
public final class DropInTable {

    private static final String HEAD = "| flag | variable | default here | what it does here |\n|---|---|---|---|\n";

    private static final String DEFAULT = "Default: ";
    private static final Pattern LINE = Pattern.compile("%n|\n");
    private static final Pattern VARIABLES = Pattern.compile(" ?\\[([A-Z_]+(?:, or [A-Z_]+)*)]");

    private final StringBuilder rows = new StringBuilder(HEAD);
    private final Set<String> variables = new TreeSet<>();

    /**
     * Adds an option.
     *
     * @param flag its name, such as {@code --node-name}
     * @param defaultValue its default value; {@code null} if the help's lines have it
     * @param description the lines of its help
     */
    public void option(String flag, @Nullable String defaultValue, String... description) {
        List<String> lines = Arrays.stream(description)
                .flatMap(line -> LINE.splitAsStream(line))
                .toList();
        String text = lines.stream().filter(line -> !line.startsWith(DEFAULT)).collect(Collectors.joining(" "));
        Matcher found = VARIABLES.matcher(text);
        List<String> names = found.find() ? List.of(found.group(1).split(", or ")) : List.of();
        variables.addAll(names);
        String said = lines.stream()
                .filter(line -> line.startsWith(DEFAULT))
                .map(line -> line.substring(DEFAULT.length()))
                .filter(line -> !line.equals("null"))
                .collect(Collectors.joining(" "));
        row(
                "`" + flag + "`",
                names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", ")),
                defaultValue == null || defaultValue.isEmpty() ? said : "`" + defaultValue + "`",
                VARIABLES.matcher(text).replaceAll(""));
    }

    /** Adds a variable that does not belong to an option. */
    public void variable(String name, String meaning) {
        variables.add(name);
        row("", "`" + name + "`", "", meaning);
    }

    private void row(String... cells) {
        rows.append("| ")
                .append(Arrays.stream(cells)
                        .map(cell -> cell.replace("|", "\\|").replace("<", "&lt;"))
                        .collect(Collectors.joining(" | ")))
                .append(" |\n");
    }

    /** Returns the variables in the table. */
    public Set<String> variables() {
        return Set.copyOf(variables);
    }

    /** Returns the table in Markdown. */
    @Override
    public String toString() {
        return rows.toString();
    }
}
