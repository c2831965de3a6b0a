// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.concurrent.atomic.AtomicBoolean;

/** A lease on NVML sessions that ends when it is closed; closing it again has no effect. */
public final class Lease implements AutoCloseable {

    private final Runnable end;
    private final AtomicBoolean closed = new AtomicBoolean();

    Lease(Runnable end) {
        this.end = end;
    }

    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            end.run();
        }
    }
}
