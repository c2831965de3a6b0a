// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.ReferenceFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The part of the page on this server about the recordings that it was compared with, and the differences; {@code
 * -Dreference.update} updates it.
 */
class DifferencesPageTest {
    private static final Path PAGE = Path.of("../../docs-site/reference/embedded-api-server.md");
    private static final String BEGIN =
            "<!-- From differences.yaml, by DifferencesPageTest; -Dreference.update=true updates it. -->\n";
    private static final String END = "<!-- End of differences.yaml. -->\n";

    private static String part() {
        int updates = Recordings.of("updates").size() - 1; // The first line is what is updated.
        String head = """
                In each run of the gate this server is compared with kube-apiserver 1.36.2 with default gates: %,d objects
                to create, %,d to update, and %d other requests, each with its answer.
                These differences are deliberate:

                """.formatted(
                        Recordings.of("creates").size(),
                        updates,
                        Recordings.of("transcripts").size());
        return head
                + Differences.ALL.stream()
                        .map(one -> "- **%s**: %s.%n".formatted(one.what(), one.because()))
                        .collect(Collectors.joining());
    }

    @Test
    void isTheListOfDifferences() throws Exception {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(begin).as("the page has a place for it").isBetween(BEGIN.length(), end);
        String updated = page.substring(0, begin) + part() + page.substring(end);
        new ReferenceFile(PAGE).assertIs(updated);
    }

    @Test
    void isShort() {
        assertThat(Differences.ALL).hasSizeLessThan(15);
    }
}
