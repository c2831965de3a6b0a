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

    /** A loaded machine breaks limits, too: so often is judged again what was complained of. */
    private static final int AGAIN = 2;

    private Lineup() {}

    /** Says what the suite got wrong about a driver, a line each. */
    interface Judge<T> {
        List<String> complaints(T driver) throws Exception;
    }

    /** Returns the complaints about those of which there are any, and prints them. */
    static <T> Map<T, List<String>> complaints(List<T> drivers, int lanes, Judge<T> judge)
            throws Exception {
        ExecutorService working = Executors.newFixedThreadPool(lanes);
        Map<T, List<String>> found = new LinkedHashMap<>();
        try {
            Map<T, Future<List<String>>> judged = new LinkedHashMap<>();
            drivers.forEach(
                    driver -> judged.put(driver, working.submit(() -> judge.complaints(driver))));
            for (Map.Entry<T, Future<List<String>>> one : judged.entrySet()) {
                List<String> complaints = one.getValue().get();
                for (int again = 0; again < AGAIN && !complaints.isEmpty(); again++) {
                    System.out.println("Judging again: " + one.getKey() + ": " + complaints);
                    complaints = judge.complaints(one.getKey());
                }
                if (!complaints.isEmpty()) {
                    found.put(one.getKey(), complaints);
                }
            }
        } finally {
            working.shutdownNow();
        }
        found.forEach(
                (driver, complaints) ->
                        System.out.println(driver + "\n    " + String.join("\n    ", complaints)));
        return found;
    }
}
