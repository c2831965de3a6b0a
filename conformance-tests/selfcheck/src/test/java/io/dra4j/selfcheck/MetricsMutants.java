// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

/** Mutants whose metrics count wrongly, or are written wrongly. */
final class MetricsMutants {

    private MetricsMutants() {}

    @Altered(id = "M-136a")
    static final class WithoutErrors extends CallCounters {
        @Override
        void count(String operation, boolean good) {
            if (good) {
                super.count(operation, true);
            }
        }
    }

    @Altered(id = "M-136b")
    static final class Nothing extends CallCounters {
        @Override
        void count(String operation, boolean good) {}
    }

    @Altered(id = "M-136c")
    static final class Unreadable extends CallCounters {
        @Override
        String text() {
            return super.text().replaceAll(" \\d+", " many");
        }
    }

    @Altered(id = "M-136d")
    static final class Nowhere extends CallCounters {
        @Override
        void serve(int port) {}
    }
}
