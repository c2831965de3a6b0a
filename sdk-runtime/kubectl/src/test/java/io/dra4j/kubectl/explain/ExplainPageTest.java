// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.Obstacle;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page shows texts of puzzles; {@code -Dreference.update=true} rewrites them. */
class ExplainPageTest {
    private static final Path PAGE = Path.of("../../docs-site/how-to/debug-a-pending-claim.md");
    private static final Pattern CAPTURE =
            Pattern.compile("<!-- puzzle: (\\S+) -->\n```text\n(.*?)```", Pattern.DOTALL);

    @Test
    void itsCapturesAreTheTextsOfPuzzles() throws Exception {
        String page = Files.readString(PAGE);
        Matcher captures = CAPTURE.matcher(page);
        String wanted = captures.replaceAll(found -> Matcher.quoteReplacement(capture(found.group(1))));
        new ReferenceFile(PAGE).assertIs(wanted);
        List<String> shown =
                CAPTURE.matcher(page).results().map(MatchResult::group).toList();
        assertThat(shown).hasSize(3);
    }

    private static String capture(String puzzle) {
        try {
            String text = Files.readString(Puzzle.named(puzzle).expected());
            String shown = text.substring(0, text.indexOf("exit status"));
            return "<!-- puzzle: %s -->\n```text\n%s```".formatted(puzzle, shown);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void itNamesAllFieldsAndValuesOfTheJson() throws Exception {
        String page = Files.readString(PAGE);

        for (Class<?> part : List.of(
                ExplainReport.class,
                ExplainReport.Nodes.class,
                ExplainReport.Request.class,
                ExplainReport.Refused.class,
                ExplainReport.Changes.class)) {
            for (RecordComponent field : part.getRecordComponents()) {
                assertThat(page).containsPattern("[`.]" + field.getName() + "(\\[])?`");
            }
        }
        assertThat(page)
                .contains(Arrays.stream(ExplainReport.Result.values())
                        .map(ExplainReport.Result::text)
                        .toList());
        assertThat(page)
                .contains(Arrays.stream(Obstacle.Check.values()).map(Enum::name).toList());
    }
}
