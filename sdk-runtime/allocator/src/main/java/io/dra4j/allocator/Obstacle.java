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

        /** The failure of the check, in words. */
        public String text() {
            return text;
        }
    }

    /** The kinds of change that take obstacles away. */
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

        /** The name in reports. */
        public String text() {
            return text;
        }
    }

    /** The check that failed. */
    Check check();

    /** The obstacle as a part of a sentence, with all its values. */
    String text();

    /** Other claims have the device. */
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

    /** The same pod's claims have the device already. */
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
     * An expression does not match.
     *
     * @param deviceClass that has the selector; null if the request has it
     * @param index of the selector
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

    /** The device cannot be used from the node. */
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

    /** The device needs a feature gate that is off. */
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

    /** The device does not have a capacity that is requested. */
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

    /** The device's policy allows no amount that is large enough. */
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
     * The device has less capacity left.
     *
     * @param requested whether the request names the amount, rather than the device
     * @param holders of shares
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
     * The pool has less of a counter left.
     *
     * @param amount that the device needs; zero if only others need the counter
     * @param consumers of the counter, but for the claims of the same pod
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

    /** The request does not tolerate a taint. */
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
     * A constraint does not hold.
     *
     * @param value of the device; null if it lacks the attribute
     * @param other the value that it is compared with; null if there is none
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
                    : "has %s, and the claim's others %s: constraint %s".formatted(value, other, constraint);
        }
    }
}
