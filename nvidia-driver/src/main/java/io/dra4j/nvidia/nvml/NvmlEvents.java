// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.jna.Structs;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The events of some GPUs, until the session ends; the session is kept open for them. One thread waits; another may
 * close.
 */
public final class NvmlEvents implements AutoCloseable {

    private static final long XID = 0x8;
    private static final long MIG_CONFIG_CHANGED = 0x100;
    private static final int WHOLE = -1;

    private final Sessions sessions;
    private final Session session;
    private final Lease kept;
    private final BooleanSupplier isCurrent;
    private final long set;
    private final Map<Long, String> uuids = new HashMap<>(); // by handle
    private final Set<String> gpus;
    private final Set<String> unmonitored = new HashSet<>();
    private boolean closed; // guarded by this

    /** Creates the subscription; called in the session. */
    NvmlEvents(Sessions sessions, Session session, Lease kept, Set<String> gpus, BooleanSupplier isCurrent) {
        this.sessions = sessions;
        this.session = session;
        this.kept = kept;
        this.isCurrent = isCurrent;
        this.gpus = Set.copyOf(gpus);
        set = session.library.handle("nvmlEventSetCreate");
        for (String gpu : gpus) {
            try {
                register(gpu, session.handles.of(gpu));
            } catch (NvmlCallException e) {
                if (e.endsSession()) {
                    throw e;
                }
                unmonitored.add(gpu);
            }
        }
    }

    private void register(String gpu, long handle) {
        NvmlLibrary nvml = session.library;
        long types = nvml.handle("nvmlDeviceGetSupportedEventTypes", handle);
        long supported = types & (XID | MIG_CONFIG_CHANGED);
        nvml.require("nvmlDeviceRegisterEvents", handle, supported, set);
        uuids.put(handle, gpu);
        if ((supported & XID) == 0) {
            unmonitored.add(gpu);
        }
    }

    public Set<String> gpus() {
        return gpus;
    }

    /** Returns whether no MIG mode was switched since the subscription: GPUs may report nothing after a switch. */
    public boolean isCurrent() {
        return isCurrent.getAsBoolean();
    }

    /** Returns the GPUs that report no errors. */
    public Set<String> unmonitored() {
        return Set.copyOf(unmonitored);
    }

    public sealed interface Event {

        /**
         * A critical error.
         *
         * @param gpuInstance the number of the GPU instance; -1 for the whole GPU
         */
        record Xid(String gpu, long xid, int gpuInstance) implements Event {

            public boolean concernsAll() {
                return gpuInstance == WHOLE;
            }
        }

        /** The MIG mode changed, or instances were created or destroyed. */
        record MigChanged(String gpu) implements Event {}
    }

    /**
     * Waits for the next event.
     *
     * @return empty after the timeout
     * @throws NvmlException if NVML fails, because a GPU is lost for example, or the session has ended
     */
    public Optional<Event> await(Duration timeout) {
        try {
            return sessions.within(session, in -> await(in.library, (int) timeout.toMillis()));
        } catch (NvmlCallException e) {
            throw NvmlException.of("Waiting for events of the GPUs", e);
        }
    }

    private Optional<Event> await(NvmlLibrary nvml, int millis) {
        Structs.EventData data = new Structs.EventData();
        Set<Integer> none = Set.of(NvmlLibrary.TIMEOUT);
        return nvml.succeeds(none, "nvmlEventSetWait_v2", set, data, millis) ? event(data) : Optional.empty();
    }

    private Optional<Event> event(Structs.EventData data) {
        return Optional.ofNullable(uuids.get(data.device))
                .map(gpu -> data.eventType == XID
                        ? new Event.Xid(gpu, data.eventData, data.gpuInstanceId)
                        : new Event.MigChanged(gpu));
    }

    /** Ends the subscription; it ends with its session at the latest. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            sessions.ifOpen(session, in -> in.library.call("nvmlEventSetFree", set));
            kept.close();
        }
    }
}
