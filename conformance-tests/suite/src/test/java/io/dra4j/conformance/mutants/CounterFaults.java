// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

/** What the metrics count, and how they are written. */
final class CounterFaults {

    private CounterFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-136a" -> parts.counters = WithoutErrors::new;
            case "M-136b" -> parts.counters = Nothing::new;
            case "M-136c" -> parts.counters = Unreadable::new;
            case "M-136d" -> parts.counters = Nowhere::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class WithoutErrors extends CallCounters {
        @Override
        void count(String operation, boolean good) {
            if (good) {
                super.count(operation, true);
            }
        }
    }

    private static final class Nothing extends CallCounters {
        @Override
        void count(String operation, boolean good) {}
    }

    private static final class Unreadable extends CallCounters {
        @Override
        String text() {
            return super.text().replaceAll(" \\d+", " many");
        }
    }

    private static final class Nowhere extends CallCounters {
        @Override
        void serve(int port) {}
    }
}
