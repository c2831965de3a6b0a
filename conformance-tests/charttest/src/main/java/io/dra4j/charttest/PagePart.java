// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A part of a page of the reference that a test renders; {@code -Dreference.update} updates it.
 *
 * @param page the file
 * @param source its source, as the page names it before and after the part
 */
public record PagePart(Path page, String source) {

    /** Compares the part with the rendered one. */
    public void assertIs(String rendered) {
        try {
            String begin = "<!-- From %s; -Dreference.update=true updates it. -->\n".formatted(source);
            String end = "<!-- End of %s. -->\n".formatted(source);
            String text = Files.readString(page);
            assertThat(text).contains(begin, end);
            String updated = text.substring(0, text.indexOf(begin) + begin.length())
                    + rendered
                    + text.substring(text.indexOf(end));
            if (Boolean.getBoolean("reference.update")) {
                Files.writeString(page, updated);
            }
            assertThat(page)
                    .as("if it is stale, -Dreference.update=true updates it")
                    .hasContent(updated);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
