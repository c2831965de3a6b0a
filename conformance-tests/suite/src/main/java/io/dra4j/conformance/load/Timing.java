// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/** Times an operation. */
final class Timing {

    private Timing() {}

    interface Work {
        void run() throws IOException;
    }

    static Duration of(Work work) {
        long begin = System.nanoTime();
        try {
            work.run();
        } catch (IOException e) {
            throw new UncheckedIOException("The measured operation failed: " + e.getMessage(), e);
        }
        return since(begin);
    }

    /** The time since a value of {@link System#nanoTime}. */
    static Duration since(long begin) {
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
