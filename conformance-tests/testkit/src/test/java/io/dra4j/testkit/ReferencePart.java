// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A part of a reference page that a test renders; {@code -Dreference.update} updates it. */
public final class ReferencePart {

    private ReferencePart() {}

    /**
     * Compares a part of a page.
     *
     * @param test the test that has the part; the page names it before and after the part
     */
    public static void assertIsOnThePage(Path page, Class<?> test, String part) throws IOException {
        String begin =
                "<!-- From %s; -Dreference.update=true updates it. -->\n"
                        .formatted(test.getSimpleName());
        String end = "<!-- End of %s. -->\n".formatted(test.getSimpleName());
        String text = Files.readString(page);
        assertThat(text).contains(begin).contains(end);
        String updated =
                text.substring(0, text.indexOf(begin) + begin.length())
                        + part
                        + text.substring(text.indexOf(end));
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(page, updated);
        }
        assertThat(page)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(updated);
    }
}
