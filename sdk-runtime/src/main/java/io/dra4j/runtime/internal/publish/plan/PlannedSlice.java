// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One slice that a pool should have.
 *
 * @param index its place in the pool, kept while the slice exists; its name begins with it, so
 *     that the names of a pool's slices sort as their indexes do
 * @param content its content; the generation is not decided yet
 */
public record PlannedSlice(int index, Content content) {

    private static final int DIGITS = 7;
    private static final Pattern INDEXED_NAME = Pattern.compile("([0-9a-f]{5,7})-.*");

    /**
     * Reads the index of a slice in the cluster from its name; empty if it is not this driver's.
     *
     * <p>The Go helper uses five digits: as a dash sorts before all digits, they sort as if zeros followed them.
     */
    public static OptionalInt indexOf(String name) {
        Matcher matcher = INDEXED_NAME.matcher(name);
        if (!matcher.matches()) {
            return OptionalInt.empty();
        }
        String digits = matcher.group(1);
        return OptionalInt.of(Integer.parseInt(digits, 16) << 4 * (DIGITS - digits.length()));
    }

    /** Creates a plan of the slices in the cluster, from which a driver continues after a restart. */
    public static List<PlannedSlice> adopt(Collection<Stored> slices) {
        return slices.stream()
                .sorted(Comparator.comparing(Stored::name))
                .flatMap(slice -> indexOf(slice.name()).stream().mapToObj(i -> new PlannedSlice(i, slice.content())))
                .toList();
    }
}
