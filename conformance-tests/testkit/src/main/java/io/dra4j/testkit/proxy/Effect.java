// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.time.Duration;

/** What a fault does to one request; printed in the log by its {@code toString}. */
sealed interface Effect {

    /** An API Status instead of the server's answer; a wait of zero is not mentioned. */
    record Answer(int code, String reason, Duration retryAfter) implements Effect {
        @Override
        public String toString() {
            return "answered " + code + " " + reason;
        }
    }

    /** Neither sent on nor answered. */
    record Drop() implements Effect {
        @Override
        public String toString() {
            return "dropped";
        }
    }

    /** Sent on, not answered. */
    record DropAfterSend() implements Effect {
        @Override
        public String toString() {
            return "sent, answer dropped";
        }
    }

    /** Sent on later. */
    record Delay(Duration duration) implements Effect {
        @Override
        public String toString() {
            return "delayed " + duration.toMillis() + " ms";
        }
    }

    /** Answered with headers alone. */
    record Stall() implements Effect {
        @Override
        public String toString() {
            return "stalled";
        }
    }

    /** Answered with the event that ends a watch whose revision is too old. */
    record Gone() implements Effect {
        @Override
        public String toString() {
            return "410 Gone in the stream";
        }
    }
}
