// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of the repository that a test renders; {@code -Dreference.update=true} updates it. */
public record ReferenceFile(Path file) {

    /** Compares the file with the rendered text. */
    public void assertIs(String rendered) throws IOException {
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(file, rendered);
        }
        assertThat(file)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(rendered);
    }

    /** Compares one block of a page, which follows the start and ends with three backticks. */
    public void assertHasBlock(String start, String rendered) throws IOException {
        String page = Files.readString(file);
        assertThat(page).contains(start);
        int from = page.indexOf(start) + start.length();
        assertIs(page.substring(0, from) + rendered + page.substring(page.indexOf("```", from)));
    }
}
