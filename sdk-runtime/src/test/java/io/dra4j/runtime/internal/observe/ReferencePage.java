// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** A page of the documentation that ends with a table, which is rendered from an enum. */
record ReferencePage(Path path) {

    static ReferencePage named(String name) {
        return new ReferencePage(Path.of("../docs-site/reference").resolve(name));
    }

    /** Fails with what the page should end with, ready to be pasted. */
    void assertEndsWith(List<String> columns, List<List<String>> rows) throws IOException {
        assertThat(Files.readString(path))
                .as("the table of %s", path)
                .endsWith("\n\n" + table(columns, rows));
    }

    private static String table(List<String> columns, List<List<String>> rows) {
        return line(columns)
                + line(columns.stream().map(column -> "---").toList())
                + rows.stream().map(ReferencePage::line).collect(Collectors.joining());
    }

    private static String line(List<String> cells) {
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
