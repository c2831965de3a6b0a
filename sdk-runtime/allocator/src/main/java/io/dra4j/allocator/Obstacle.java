// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Taint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The check of a device that failed for a request, and why. */
public sealed interface Obstacle {

    /** The checks of a device, in their order. */
    enum Check {
        IN_USE("in use"),
        FEATURE_GATE("needs a feature gate"),
        CLASS_SELECTOR("does not match a selector of the class"),
        REQUEST_SELECTOR("does not match a selector of the request"),
        NODE("not available on the node"),
        CAPACITY("too little capacity"),
        COUNTERS("too little of a counter"),
        TAINT("tainted"),
        CONSTRAINT("does not satisfy a constraint");

        private final String text;

        Check(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    /** The kinds of change that remove obstacles. */
    enum Kind {
        TAINTS("taints"),
        HOLDERS("holders"),
        REQUEST_SELECTORS("requestSelectors"),
        CLASS_SELECTORS("classSelectors"),
        CONSTRAINTS("constraints"),
        COUNTERS("counters"),
        CAPACITY_REQUESTS("capacityRequests"),
        COUNT("count"),
        NODE("node");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** Returns the name in reports. */
        public String text() {
            return text;
        }
    }

    Check check();

    /** Returns the obstacle as a part of a sentence, with all its values. */
    String text();

    record InUse(List<Holder> holders) implements Obstacle {
        @Override
        public Check check() {
            return Check.IN_USE;
        }

        @Override
        public String text() {
            return Holder.text("in use by ", holders);
        }
    }

    /** A claim of the same pod already has the device. */
    record Picked(String claim, String request) implements Obstacle {
        @Override
        public Check check() {
            return Check.IN_USE;
        }

        @Override
        public String text() {
            return "needed for request %s of claim %s".formatted(request, claim);
        }
    }

    /**
     * A selector does not match.
     *
     * @param deviceClass the class that has the selector; null if the request has it
     */
    record NotSelected(@Nullable String deviceClass, int index, String expression) implements Obstacle {
        @Override
        public Check check() {
            return deviceClass == null ? Check.REQUEST_SELECTOR : Check.CLASS_SELECTOR;
        }

        @Override
        public String text() {
            return "selector #%d of %s does not match: %s"
                    .formatted(index, deviceClass == null ? "the request" : "class " + deviceClass, expression);
        }
    }

    record OtherNode(String node) implements Obstacle {
        @Override
        public Check check() {
            return Check.NODE;
        }

        @Override
        public String text() {
            return "not available on node " + node;
        }
    }

    record GateOff(String gate) implements Obstacle {
        @Override
        public Check check() {
            return Check.FEATURE_GATE;
        }

        @Override
        public String text() {
            return "needs feature gate " + gate;
        }
    }

    record NoCapacity(String capacity) implements Obstacle {
        @Override
        public Check check() {
            return Check.CAPACITY;
        }

        @Override
        public String text() {
            return "has no capacity " + capacity;
        }
    }

    /** The device's policy does not allow an amount that is large enough. */
    record AmountRefused(String capacity, Quantity amount) implements Obstacle {
        @Override
        public Check check() {
            return Check.CAPACITY;
        }

        @Override
        public String text() {
            return "its request policy does not allow %s of %s".formatted(amount, capacity);
        }
    }

    /**
     * The device has too little capacity left.
     *
     * @param requested whether the request names the amount, rather than the device
     * @param holders the holders of shares
     */
    record CapacityShort(String capacity, Quantity amount, Quantity left, boolean requested, List<Holder> holders)
            implements Obstacle {
        @Override
        public Check check() {
            return Check.CAPACITY;
        }

        @Override
        public String text() {
            return "has %s of %s left, and %s is needed%s"
                    .formatted(left, capacity, amount, Holder.text("; shared by ", holders));
        }
    }

    /**
     * The pool has too little of a counter left.
     *
     * @param amount the amount that the device needs; zero if only others need the counter
     * @param consumers the consumers of the counter, except claims of the same pod
     */
    record CounterShort(String set, String counter, Quantity amount, Quantity left, List<Holder> consumers)
            implements Obstacle {
        @Override
        public Check check() {
            return Check.COUNTERS;
        }

        @Override
        public String text() {
            return "counter %s of set %s has %s left, and %s is needed%s"
                    .formatted(counter, set, left, amount, Holder.text("; consumed by ", consumers));
        }
    }

    record Tainted(Taint taint) implements Obstacle {
        @Override
        public Check check() {
            return Check.TAINT;
        }

        @Override
        public String text() {
            return "has taint " + taint + ", which the request does not tolerate";
        }
    }

    /**
     * A constraint is not satisfied.
     *
     * @param value the value of the device; null if it lacks the attribute
     * @param other the value of the others; null if none is compared
     */
    record NotTogether(
            Constraint constraint,
            @Nullable AttributeValue value,
            @Nullable AttributeValue other) implements Obstacle {
        @Override
        public Check check() {
            return Check.CONSTRAINT;
        }

        @Override
        public String text() {
            return value == null
                    ? "has no attribute for constraint " + constraint
                    : "has %s, but the claim's other devices have %s: constraint %s"
                            .formatted(value, other, constraint);
        }
    }
}
