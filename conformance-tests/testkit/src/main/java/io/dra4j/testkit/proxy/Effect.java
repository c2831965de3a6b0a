// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.time.Duration;

/** The effect of a fault on one request; printed in the log by its {@code toString}. */
sealed interface Effect {

    /** An API Status instead of the server's response; a wait of zero is not mentioned. */
    record Status(int code, String reason, Duration retryAfter) implements Effect {
        @Override
        public String toString() {
            return "answered " + code + " " + reason;
        }
    }

    /** Forwarded later. */
    record Delay(Duration duration) implements Effect {
        @Override
        public String toString() {
            return "delayed " + duration.toMillis() + " ms";
        }
    }

    /** The effects without parameters. */
    enum Plain implements Effect {
        /** Neither forwarded nor answered. */
        DROP("dropped"),
        /** Answered with only headers. */
        STALL("stalled"),
        /** Answered with the event that ends a watch whose revision is too old. */
        GONE("410 Gone in the stream");

        private final String words;

        Plain(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }
}
