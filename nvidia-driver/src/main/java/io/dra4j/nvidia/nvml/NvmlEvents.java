// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.jna.EventCalls;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What happens to some GPUs, from one moment on. One thread waits; another may close. */
public final class NvmlEvents implements AutoCloseable {

    private static final int WHOLE = -1;

    private final EventCalls events;
    private final long set;
    private final Map<Long, String> uuids;
    private final Set<String> gpus;
    private final Set<String> deaf;
    private boolean closed; // guarded by this

    private NvmlEvents(
            EventCalls events,
            long set,
            Map<Long, String> uuids,
            Set<String> gpus,
            Set<String> deaf) {
        this.gpus = Set.copyOf(gpus);
        this.events = events;
        this.set = set;
        this.uuids = uuids;
        this.deaf = Set.copyOf(deaf);
    }

    static NvmlEvents open(EventCalls events, Handles handles, Set<String> gpus) {
        long set = create(events);
        Map<Long, String> uuids = new HashMap<>();
        Set<String> deaf = new HashSet<>();
        for (String gpu : gpus) {
            try {
                long handle = handles.of(gpu);
                long types = EventCalls.XID | EventCalls.MIG_CONFIG_CHANGED;
                long supported = events.supported(handle) & types;
                events.register(handle, supported, set);
                uuids.put(handle, gpu);
                if ((supported & EventCalls.XID) == 0) {
                    deaf.add(gpu);
                }
            } catch (NvmlCallException e) {
                deaf.add(gpu);
            }
        }
        return new NvmlEvents(events, set, uuids, gpus, deaf);
    }

    private static long create(EventCalls events) {
        try {
            return events.create();
        } catch (NvmlCallException e) {
            throw Translation.of("Listening to the GPUs", e);
        }
    }

    /** The GPUs that were to be listened to, by their UUIDs. */
    public Set<String> gpus() {
        return gpus;
    }

    /** Those of them that tell of no errors, or could not be listened to. */
    public Set<String> deaf() {
        return deaf;
    }

    /** Something that happened. */
    public sealed interface Event {

        /**
         * A critical error.
         *
         * @param gpu the UUID of the GPU
         * @param xid the number of the error
         * @param gpuInstance the GPU instance that it is about; -1 if it is about the whole GPU
         */
        record Xid(String gpu, long xid, int gpuInstance) implements Event {

            /** Whether it is about the GPU with all that it is divided into. */
            public boolean concernsAll() {
                return gpuInstance == WHOLE;
            }
        }

        /**
         * Instances came or went.
         *
         * @param gpu the UUID of the GPU
         */
        record Divided(String gpu) implements Event {}
    }

    /**
     * Waits for the next event.
     *
     * @return empty when the time is over
     * @throws NvmlException if NVML can't tell any more, of a lost GPU for example
     */
    public Optional<Event> await(Duration timeout) {
        try {
            return events.await(set, (int) timeout.toMillis()).flatMap(this::event);
        } catch (NvmlCallException e) {
            throw Translation.of("Waiting for events of the GPUs", e);
        }
    }

    private Optional<Event> event(EventCalls.Event event) {
        String gpu = uuids.get(event.gpu());
        if (gpu == null) {
            return Optional.empty();
        }
        return Optional.of(
                event.type() == EventCalls.XID
                        ? new Event.Xid(gpu, event.data(), event.instance())
                        : new Event.Divided(gpu));
    }

    private void free() {
        try {
            events.free(set);
        } catch (NvmlCallException e) {
            throw Translation.of("Ending to listen to the GPUs", e);
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            free();
        }
    }
}
