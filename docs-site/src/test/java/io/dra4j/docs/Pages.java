// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The pages of the documentation. */
final class Pages {

    static final Path ROOT = Path.of("../docs-site");

    private Pages() {}

    /** The Markdown files, without those of the site's packages. */
    static List<Path> all() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !file.toString().contains("node_modules"))
                    .sorted()
                    .toList();
        }
    }

    static String text(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compares what follows the page's introduction; {@code -Dreference.update} updates it. */
    static void assertRendered(Path page, String firstHeading, String rendered) throws IOException {
        String text = Files.readString(page);
        assertThat(text).contains(firstHeading);
        String wanted = text.substring(0, text.indexOf(firstHeading)) + rendered;
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(page, wanted);
        }
        assertThat(page)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(wanted);
    }
}
