// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Events of GPUs, and the session of NVML that is kept open for them. */
final class Subscription implements AutoCloseable {

    private final Lease session;
    private final NvmlEvents events;

    private Subscription(Lease session, NvmlEvents events) {
        this.session = session;
        this.events = events;
    }

    /**
     * Subscribes.
     *
     * @throws NvmlException if NVML can't be used
     */
    static Subscription open(Nvml nvml, Set<String> gpus) {
        Lease session = nvml.keep();
        try {
            return new Subscription(session, nvml.subscribe(gpus));
        } catch (NvmlException e) {
            session.close();
            throw e;
        }
    }

    Set<String> gpus() {
        return events.gpus();
    }

    Set<String> unmonitored() {
        return events.unmonitored();
    }

    boolean isCurrent() {
        return events.isCurrent();
    }

    Optional<Event> await(Duration timeout) {
        return events.await(timeout);
    }

    @Override
    public void close() {
        events.close();
        session.close();
    }
}
