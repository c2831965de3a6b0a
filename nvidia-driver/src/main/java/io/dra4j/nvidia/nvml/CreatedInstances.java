// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The instances that were created in the present session, by their handles: NVML accepts a handle
 * only as long as its instance exists, even if there is another with its number. Thread-safe.
 */
final class CreatedInstances {

    private final AtomicLong last = new AtomicLong();
    private final Map<Long, Created> bySerial = new HashMap<>(); // guarded by this

    /** Handles, which belong to the session; 0 if there is none, or none any more. */
    private record Created(Session session, long instance, long compute) {

        /** Its handle means another instance now. */
        Created replaced() {
            return new Created(session, 0, 0);
        }
    }

    synchronized long instance(Session session, long handle) {
        bySerial.values().removeIf(created -> created.session != session);
        bySerial.replaceAll((key, known) -> known.instance == handle ? known.replaced() : known);
        long serial = last.incrementAndGet();
        bySerial.put(serial, new Created(session, handle, 0));
        return serial;
    }

    synchronized void compute(Session session, long serial, long handle) {
        bySerial.computeIfPresent(
                serial,
                (key, known) -> known.session == session ? new Created(session, known.instance, handle) : known);
    }

    /**
     * Tests the handles; that of the compute instance only if it should exist. Without it, a GPU
     * instance is another's as soon as it has another compute instance.
     */
    Presence presence(Session session, long serial, boolean withCompute) {
        Created known = find(serial);
        if (known == null || known.session != session) {
            return Presence.UNKNOWN;
        }
        boolean exists = known.instance != 0
                && session.mig.exists(known.instance)
                && (!withCompute
                        || known.compute == 0
                        || session.mig.computeExists(known.compute)
                        || !session.mig.hasComputes(known.instance));
        return exists ? Presence.PRESENT : Presence.GONE;
    }

    private synchronized @Nullable Created find(long serial) {
        return bySerial.get(serial);
    }
}
