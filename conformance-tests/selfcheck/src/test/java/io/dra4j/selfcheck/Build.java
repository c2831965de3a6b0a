// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The extent of this build's tests: {@code -Pfull} and {@code -Ddra4j.suite=whole} make it more.
 *
 * <p>{@code -Ddra4j.mutants=REGEX} and {@code -Ddra4j.variants=REGEX} select drivers by their ids
 * instead, {@code -Ddra4j.part=1/6} a sixth of them. The order of requirements comes from one of
 * three seeds for each driver; {@code -Ddra4j.seeds=10} takes ten.
 */
enum Build {
    /** A few drivers of each kind. */
    PLAIN,
    /** All but the slowest. */
    FULL,
    /** All, and the whole suite instead of a few requirements. */
    WHOLE;

    static final Build CURRENT = System.getProperty("dra4j.suite", "").equals("whole")
            ? WHOLE
            : Boolean.getBoolean("dra4j.full") ? FULL : PLAIN;

    private static final String[] PART = System.getProperty("dra4j.part", "1/1").split("/");

    /** Returns the seeds with which the suite is run on a driver. */
    static Stream<Long> seeds(String id) {
        int many = Integer.getInteger("dra4j.seeds", 0);
        return many == 0
                ? Stream.of(1L + Math.floorMod(id.hashCode(), 3))
                : LongStream.rangeClosed(1, many).boxed();
    }

    /** Returns the drivers of this build. */
    static <T> List<T> select(List<T> all, String property, Function<T, String> id, Function<T, Build> from) {
        String ids = System.getProperty(property);
        List<T> selected = all.stream()
                .filter(each -> ids == null
                        ? from.apply(each).compareTo(CURRENT) <= 0
                        : id.apply(each).matches(ids))
                .toList();
        int part = Integer.parseInt(PART[0]) - 1;
        int parts = Integer.parseInt(PART[1]);
        List<T> due = IntStream.range(0, selected.size())
                .filter(index -> index % parts == part)
                .mapToObj(selected::get)
                .toList();
        if (due.isEmpty()) {
            throw new IllegalArgumentException(
                    "No driver matches -D%s=%s -Ddra4j.part=%s".formatted(property, ids, String.join("/", PART)));
        }
        return due;
    }
}
