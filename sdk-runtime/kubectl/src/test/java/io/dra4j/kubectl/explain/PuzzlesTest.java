// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.ReferenceFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each puzzle has its whole text; {@code -Dreference.update=true} rewrites the texts. */
class PuzzlesTest {

    @TempDir
    private Path folder;

    static List<Puzzle> puzzles() {
        return Puzzle.all();
    }

    @ParameterizedTest
    @MethodSource("puzzles")
    void isExplained(Puzzle puzzle) throws Exception {
        Puzzle.Answer answer = puzzle.explain(folder.resolve("kubeconfig"));
        String text = answer.text() + "exit status " + answer.status() + "\n";
        new ReferenceFile(puzzle.expected()).assertIs(text);
        assertThat(text.lines()).allMatch(line -> line.length() <= 100);
    }

    @Test
    void thereAreThirty() {
        assertThat(puzzles()).hasSizeGreaterThanOrEqualTo(30);
    }
}
