// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

/** Mutants whose metrics count wrongly, or are written wrongly. */
final class MetricsMutants {

    private MetricsMutants() {}

    @Mutant(
            id = "M-136a",
            what = "does not count calls that failed",
            violates =
                    @Violation(
                            requirement = "DRA-MET-01",
                            message = "no metric tells failed calls from others"),
            options = "--metrics-port={FREE_PORT}")
    static final class WithoutErrors extends CallCounters {
        @Override
        void count(String operation, boolean good) {
            if (good) {
                super.count(operation, true);
            }
        }
    }

    @Mutant(
            id = "M-136b",
            what = "counts no calls",
            violates =
                    @Violation(
                            requirement = "DRA-MET-01",
                            message = "no metric counts calls: after 3 Prepares"),
            options = "--metrics-port={FREE_PORT}")
    static final class Nothing extends CallCounters {
        @Override
        void count(String operation, boolean good) {}
    }

    @Mutant(
            id = "M-136c",
            what = "metrics can't be parsed",
            violates =
                    @Violation(requirement = "DRA-MET-01", message = "the metrics have a bad line"),
            options = "--metrics-port={FREE_PORT}")
    static final class Unreadable extends CallCounters {
        @Override
        String text() {
            return super.text().replaceAll(" \\d+", " many");
        }
    }

    @Mutant(
            id = "M-136d",
            what = "serves no metrics",
            violates =
                    @Violation(
                            requirement = "DRA-MET-01",
                            message = "the settings say that metrics are at http"),
            options = "--metrics-port={FREE_PORT}")
    static final class Nowhere extends CallCounters {
        @Override
        void serve(int port) {}
    }
}
