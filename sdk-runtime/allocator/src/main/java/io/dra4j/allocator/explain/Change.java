// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Taint;

/** A change of one object that removes an obstacle. */
public sealed interface Change {

    Kind kind();

    /** Returns the change as an imperative sentence without its full stop. */
    String text();

    /**
     * The request of a claim to change.
     *
     * @param claim its namespace and name
     * @param request its name, followed by a slash and the subrequest's name if there is one
     */
    record Place(String claim, String request) {
        @Override
        public String toString() {
            return "request %s of claim %s".formatted(request, claim);
        }
    }

    record Tolerate(Place place, Taint taint) implements Change {
        @Override
        public Kind kind() {
            return Kind.TAINTS;
        }

        @Override
        public String text() {
            return "tolerate taint %s in %s".formatted(taint, place);
        }
    }

    record Release(String claim) implements Change {
        @Override
        public Kind kind() {
            return Kind.HOLDERS;
        }

        @Override
        public String text() {
            return "release the devices of claim " + claim;
        }
    }

    record DropRequestSelector(Place place, int index, String expression) implements Change {
        @Override
        public Kind kind() {
            return Kind.REQUEST_SELECTORS;
        }

        @Override
        public String text() {
            return "remove selector #%d of %s: %s".formatted(index, place, expression);
        }
    }

    /** A selector of a class is removed; the first one defines the class, and stays. */
    record DropClassSelector(String deviceClass, int index, String expression) implements Change {
        @Override
        public Kind kind() {
            return Kind.CLASS_SELECTORS;
        }

        @Override
        public String text() {
            return "remove selector #%d of class %s: %s".formatted(index, deviceClass, expression);
        }
    }

    record DropConstraint(String claim, int index, String constraint) implements Change {
        @Override
        public Kind kind() {
            return Kind.CONSTRAINTS;
        }

        @Override
        public String text() {
            return "remove constraint #%d of claim %s: %s".formatted(index, claim, constraint);
        }
    }

    /** The counters of a pool are sufficient. */
    record IgnoreCounters(PoolId pool) implements Change {
        @Override
        public Kind kind() {
            return Kind.COUNTERS;
        }

        @Override
        public String text() {
            return "free counters of pool " + pool;
        }
    }

    record DropCapacity(Place place, String capacity) implements Change {
        @Override
        public Kind kind() {
            return Kind.CAPACITY_REQUESTS;
        }

        @Override
        public String text() {
            return "do not request capacity %s in %s".formatted(capacity, place);
        }
    }

    record RequestLess(Place place, String capacity, Quantity amount) implements Change {
        @Override
        public Kind kind() {
            return Kind.CAPACITY_REQUESTS;
        }

        @Override
        public String text() {
            return "ask for %s of %s in %s".formatted(amount, capacity, place);
        }
    }

    record RequestFewer(Place place, long count) implements Change {
        @Override
        public Kind kind() {
            return Kind.COUNT;
        }

        @Override
        public String text() {
            return "ask for %d device%s in %s".formatted(count, count == 1 ? "" : "s", place);
        }
    }

    /** The slices of a pool are for all nodes. */
    record OpenPool(PoolId pool) implements Change {
        @Override
        public Kind kind() {
            return Kind.NODE;
        }

        @Override
        public String text() {
            return "use a node that pool %s is for".formatted(pool);
        }
    }
}
