// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

/** Mutants whose metrics count wrongly, or are written wrongly. */
final class MetricsMutants {

    private MetricsMutants() {}

    @Mutant(id = "M-136a", what = "does not count calls that failed", options = "--metrics-port={FREE_PORT}")
    @Violation("DRA-MET-01: no metric distinguishes failed calls from others")
    static final class WithoutErrors extends CallCounters {
        @Override
        void count(String operation, boolean good) {
            if (good) {
                super.count(operation, true);
            }
        }
    }

    @Mutant(id = "M-136b", what = "counts no calls", options = "--metrics-port={FREE_PORT}")
    @Violation("DRA-MET-01: no metric counts calls: after 3 Prepares")
    static final class Nothing extends CallCounters {
        @Override
        void count(String operation, boolean good) {}
    }

    @Mutant(id = "M-136c", what = "metrics can't be parsed", options = "--metrics-port={FREE_PORT}")
    @Violation("DRA-MET-01: the metrics have a bad line")
    static final class Unreadable extends CallCounters {
        @Override
        String text() {
            return super.text().replaceAll(" \\d+", " many");
        }
    }

    @Mutant(id = "M-136d", what = "serves no metrics", options = "--metrics-port={FREE_PORT}")
    @Violation("DRA-MET-01: by the settings, metrics are at http")
    static final class Nowhere extends CallCounters {
        @Override
        void serve(int port) {}
    }
}
