// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A part of the page on this driver that a test renders; {@code -Dreference.update} updates it. */
public final class ReferencePart {

    private static final Path PAGE = Path.of("../docs-site/reference/nvidia-driver.md");

    private ReferencePart() {}

    /**
     * Compares a part of the page.
     *
     * @param test the test that has the part; the page names it before and after the part
     */
    public static void assertIsOnThePage(Class<?> test, String part) throws IOException {
        String begin =
                "<!-- From %s; -Dreference.update=true updates it. -->\n"
                        .formatted(test.getSimpleName());
        String end = "<!-- End of %s. -->\n".formatted(test.getSimpleName());
        String page = Files.readString(PAGE);
        assertThat(page).contains(begin).contains(end);
        String updated =
                page.substring(0, page.indexOf(begin) + begin.length())
                        + part
                        + page.substring(page.indexOf(end));
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(PAGE, updated);
        }
        assertThat(PAGE)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(updated);
    }
}
