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

    /** Takes the request as one of those that the fault is for, if it is. */
    boolean takes(RecordedRequest request) {
        return left.get() > 0 && fault.concerns(request) && left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }

    Effect effect() {
        return fault.effect();
    }

    /** Returns whether it has happened as often as it should, or was removed. */
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
     * Removes the fault: requests that come now are not concerned, and those that it holds are held
     * no longer. Reads are sent on; of writes the connection is closed, since the client that sent
     * them may be gone by now, and nothing may be written for it.
     */
    @Override
    public void close() {
        left.set(0);
        removed = true;
        letGo();
    }

    /** A request that is sent on later; the first end of the wait counts. Thread-safe. */
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
