// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.util.Comparator;

/**
 * The number of a line: a journal is compacted occasionally, and each file counts its lines.
 *
 * @param file how often the journal was compacted
 * @param line the line in that file; 0 is the header
 */
record LineNumber(long file, long line) implements Comparable<LineNumber> {

    /** Before all lines. */
    static final LineNumber NONE = new LineNumber(0, 0);

    private static final Comparator<LineNumber> ORDER =
            Comparator.comparingLong(LineNumber::file).thenComparingLong(LineNumber::line);

    LineNumber plus(long lines) {
        return new LineNumber(file, line + lines);
    }

    /** The header of the next file. */
    LineNumber nextFile() {
        return new LineNumber(file + 1, 0);
    }

    @Override
    public int compareTo(LineNumber other) {
        return ORDER.compare(this, other);
    }
}
