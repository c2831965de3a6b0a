// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * The indexes of slices: numbers of 28 bits far enough apart that others fit between them.
 *
 * <p>The first slice of a pool has room for more before it, and each has room for 65,535 between itself and the next.
 *
 * @param taken the indexes that are no longer free, sorted
 */
record SliceIndexes(int[] taken) {

    static final int FIRST = 0x1000000;
    static final int STEP = 0x10000;
    static final int LAST = 0xfffffff;

    /** Before the lowest index, and after the highest. */
    static final int BEGIN = -1;

    static final int END = LAST + 1;

    static SliceIndexes without(Collection<Integer> taken) {
        return new SliceIndexes(
                new TreeSet<>(taken).stream().mapToInt(Integer::intValue).toArray());
    }

    /** Returns how many indexes are free between two others. */
    int freeBetween(int low, int high) {
        return high - low - 1 - (rank(high) - rank(low + 1));
    }

    /** Returns how many taken indexes are lower. */
    private int rank(int index) {
        int from = 0;
        int to = taken.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (taken[middle] < index) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Chooses free indexes between two others, which must have that many between them; ascending. */
    List<Integer> between(int low, int high, int count) {
        int[] wanted = wanted(low, high, count);
        if (IntStream.of(wanted).anyMatch(index -> rank(index) != rank(index + 1))) {
            int free = freeBetween(low, high);
            for (int i = 0; i < count; i++) {
                wanted[i] = free(low, spread(free, i, count) - 1);
            }
        }
        return IntStream.of(wanted).boxed().toList();
    }

    /** At either end one step from the next; between two slices as far from each as can be. */
    private int[] wanted(int low, int high, int count) {
        int highest = taken.length == 0 ? BEGIN : taken[taken.length - 1];
        int last = Math.max(FIRST - STEP, Math.max(low, highest));
        if (high == END && last + (long) count * STEP < END) {
            return IntStream.rangeClosed(1, count).map(i -> last + i * STEP).toArray();
        }
        if (low == BEGIN && high - (long) count * STEP > BEGIN && high != END) {
            return IntStream.range(0, count).map(i -> high - (count - i) * STEP).toArray();
        }
        return IntStream.range(0, count)
                .map(i -> low + spread(high - low - 1, i, count))
                .toArray();
    }

    private static int spread(int room, int place, int count) {
        return (int) ((place + 1) * (room + 1L) / (count + 1));
    }

    /** Returns the free index above {@code low} with the given number of free ones between. */
    private int free(int low, int before) {
        int index = low + 1 + before;
        for (int i = rank(low + 1); i < taken.length && taken[i] <= index; i++) {
            index++;
        }
        return index;
    }
}
