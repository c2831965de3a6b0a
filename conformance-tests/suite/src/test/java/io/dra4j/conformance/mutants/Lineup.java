// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Has many drivers judged, some at a time. */
final class Lineup {

    /**
     * A loaded machine breaks limits, too: so often is judged again, one after the other, what was
     * complained of.
     */
    private static final int AGAIN = 2;

    private Lineup() {}

    /** Says what the suite got wrong about a driver, a line each. */
    interface Judge<T> {
        List<String> complaints(T driver) throws Exception;
    }

    /** Returns the complaints about those of which there are any, and prints them. */
    static <T> Map<T, List<String>> complaints(List<T> drivers, int lanes, Judge<T> judge)
            throws Exception {
        Map<T, List<String>> found = atOnce(drivers, lanes, judge);
        for (int again = 0; again < AGAIN; again++) {
            Map<T, List<String>> left = new LinkedHashMap<>();
            for (Map.Entry<T, List<String>> one : found.entrySet()) {
                System.out.println("Judging again: " + one.getKey() + ": " + one.getValue());
                keep(one.getKey(), judge.complaints(one.getKey()), left);
            }
            found = left;
        }
        found.forEach(
                (driver, complaints) ->
                        System.out.println(driver + "\n    " + String.join("\n    ", complaints)));
        return found;
    }

    private static <T> Map<T, List<String>> atOnce(List<T> drivers, int lanes, Judge<T> judge)
            throws Exception {
        ExecutorService working = Executors.newFixedThreadPool(lanes);
        try {
            Map<T, Future<List<String>>> judged = new LinkedHashMap<>();
            drivers.forEach(
                    driver -> judged.put(driver, working.submit(() -> judge.complaints(driver))));
            Map<T, List<String>> found = new LinkedHashMap<>();
            for (Map.Entry<T, Future<List<String>>> one : judged.entrySet()) {
                keep(one.getKey(), one.getValue().get(), found);
            }
            return found;
        } finally {
            working.shutdownNow();
        }
    }

    private static <T> void keep(T driver, List<String> complaints, Map<T, List<String>> found) {
        if (!complaints.isEmpty()) {
            found.put(driver, complaints);
        }
    }
}
