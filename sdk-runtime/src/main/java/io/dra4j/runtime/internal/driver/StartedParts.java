// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Parts that are closed in the reverse of the order in which they were started. */
@SuppressWarnings("try") // a part may throw anything when it is closed; that is logged
final class StartedParts implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(StartedParts.class);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    <T extends AutoCloseable> T started(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception | LinkageError e) { // the other parts must still be closed
                LOG.atWarn().log("A part of the driver failed to close: {}", part, e);
            }
        }
    }
}
