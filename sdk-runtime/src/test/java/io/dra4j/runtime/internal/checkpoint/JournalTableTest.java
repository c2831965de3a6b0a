// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JournalTableTest extends JournalFixture {

    private long wrong;

    @BeforeEach
    void write() {
        try (Journal journal = open()) {
            journal.put(started("uid-1"));
            journal.put(full("uid-1"));
            journal.put(full("uid-2"));
            journal.forget("uid-2");
        }
    }

    private List<String> rows() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        wrong = Journal.inspect(file, new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8)
                .lines()
                .map(row -> row.strip().replaceAll(" +", " "))
                .toList();
    }

    private void alter(int line, String text) throws IOException {
        List<String> lines = Files.readAllLines(file);
        lines.set(line, text);
        Files.write(file, lines);
    }

    @Test
    void hasARowForEachLine() {
        assertThat(rows())
                .containsExactly(
                        "FILE.LINE PHASE UID CLAIM BOOT STATE DEVICES",
                        "1.0 (header) format version 1",
                        "1.1 PREPARING uid-1 ns/claim boot-1 - node/gpu-0",
                        "1.2 PREPARED uid-1 ns/claim boot-1 14 node/gpu-0",
                        "1.3 PREPARED uid-2 ns/claim boot-1 14 node/gpu-0",
                        "1.4 (forgotten) uid-2");
        assertThat(wrong).isZero();
    }

    @Test
    void marksDamagedLinesAndMissingOnesAndPrintsNothingElseOfThem() throws IOException {
        String damaged = Files.readAllLines(file).get(3).replace("PREPARED", "\u001b[31mX");
        alter(2, damaged);
        alter(3, "");

        assertThat(rows())
                .containsSubsequence(
                        "1.1 PREPARING uid-1 ns/claim boot-1 - node/gpu-0",
                        "? (damaged) uid-2",
                        "? (missing) 1 lines",
                        "1.4 (forgotten) uid-2");
        assertThat(wrong).isEqualTo(2);
    }

    @Test
    void leavesTheFilesAsTheyAreAndATornLineIsNoDamage() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 5));
        byte[] before = Files.readAllBytes(file);

        assertThat(rows()).endsWith("? (torn)");

        assertThat(wrong).isZero();
        assertThat(file).hasBinaryContent(before);
    }

    @Test
    void ofNoFileIsAnErrorThatNamesIt() {
        file = directory.resolve("no-such");

        assertFails(this::rows, "Can't read the journal " + file);
        assertThat(file).doesNotExist();
    }
}
