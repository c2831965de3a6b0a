// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Rows of text, in columns as wide as their widest cell. */
final class TextTable {

    private static final String GAP = "  ";

    private TextTable() {}

    static String of(List<List<String>> rows) {
        List<Integer> widths =
                IntStream.range(0, rows.get(0).size())
                        .mapToObj(
                                column ->
                                        rows.stream()
                                                .mapToInt(row -> row.get(column).length())
                                                .max()
                                                .orElse(0))
                        .toList();
        return rows.stream().map(row -> line(row, widths)).collect(Collectors.joining());
    }

    private static String line(List<String> row, List<Integer> widths) {
        return IntStream.range(0, row.size())
                        .mapToObj(i -> ("%-" + widths.get(i) + "s").formatted(row.get(i)))
                        .collect(Collectors.joining(GAP))
                        .stripTrailing()
                + "\n";
    }
}
