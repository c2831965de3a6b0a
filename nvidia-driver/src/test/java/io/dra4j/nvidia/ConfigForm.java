// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A form of a configuration in a claim of one device, and what becomes of it: a row of {@code config-forms.md}.
 *
 * @param parameters the opaque parameters, as YAML
 * @param named the outcome if the entry names the device's request
 * @param unnamed the outcome if the entry names no request
 */
record ConfigForm(String parameters, String named, String unnamed) {

    static final String APPLIES = "applies";
    static final String IGNORED = "is ignored";

    private static final Path FILE = Path.of("src/test/resources/io/dra4j/nvidia/config-forms.md");

    /** Returns the rows of a table, each with the end of its line. */
    static String rows(String table) throws IOException {
        return Files.readString(FILE)
                        .split("## " + table + "\n", 2)[1]
                        .split("\n\n", 2)[0]
                        .strip() + "\n";
    }

    static List<ConfigForm> of(String table) throws IOException {
        return rows(table).lines().map(ConfigForm::ofRow).toList();
    }

    private static ConfigForm ofRow(String row) {
        String[] cells =
                row.substring("| `".length(), row.length() - " |".length()).split("`? \\| ");
        String named = cells[1].replaceFirst("^is refused: ", "");
        return new ConfigForm(cells[0], named, cells[2].equals("the same") ? named : cells[2]);
    }

    /** Returns the parameters as a claim has them. */
    String json() {
        return parameters.startsWith("apiVersion")
                ? "{" + parameters + "}"
                : "{apiVersion: resource.nvidia.com/v1beta1, " + parameters + "}";
    }
}
