// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** An active fault; thread-safe. */
public final class Injection implements AutoCloseable {

    private final Fault fault;
    private final AtomicInteger left;
    private final Set<HeldRequest> held = ConcurrentHashMap.newKeySet();
    private volatile boolean removed;

    Injection(Fault fault) {
        this.fault = fault;
        this.left = new AtomicInteger(fault.times());
    }

    /** Counts the request if the fault applies to it. */
    boolean takes(RecordedRequest request) {
        return left.get() > 0 && fault.concerns(request) && left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }

    Effect effect() {
        return fault.effect();
    }

    /** Returns whether it has occurred as often as configured, or was removed. */
    public boolean over() {
        return left.get() == 0;
    }

    /** Holds a request until its time has come, or the fault is removed. */
    void hold(HeldRequest request) {
        held.add(request);
        if (removed) {
            letGo();
        }
    }

    /** The time of a request has come. */
    void sendOn(HeldRequest request) {
        held.remove(request);
        request.sendOn();
    }

    private void letGo() {
        for (HeldRequest request : held) {
            held.remove(request);
            request.letGo();
        }
    }

    /**
     * Removes the fault: new requests are not affected, and held ones are released. Reads are forwarded; for writes the
     * connection is closed, because the client may be gone, and nothing may be written for it.
     */
    @Override
    public void close() {
        left.set(0);
        removed = true;
        letGo();
    }

    /** A request that is forwarded later; the first end of the wait counts. Thread-safe. */
    static final class HeldRequest {

        private final boolean isRead;
        private final Runnable send;
        private final Runnable cut;
        private final AtomicBoolean over = new AtomicBoolean();

        HeldRequest(boolean isRead, Runnable send, Runnable cut) {
            this.isRead = isRead;
            this.send = send;
            this.cut = cut;
        }

        /** Its time has come. */
        void sendOn() {
            end(send);
        }

        /** The fault ends before its time. */
        void letGo() {
            end(isRead ? send : cut);
        }

        private void end(Runnable how) {
            if (over.compareAndSet(false, true)) {
                how.run();
            }
        }
    }
}
