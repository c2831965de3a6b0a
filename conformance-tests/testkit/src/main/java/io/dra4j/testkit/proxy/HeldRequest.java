// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.util.concurrent.atomic.AtomicBoolean;

/** A request that is sent on later; the first end of the wait counts. Thread-safe. */
final class HeldRequest {

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

    /** The fault is over before its time. */
    void letGo() {
        end(isRead ? send : cut);
    }

    private void end(Runnable how) {
        if (over.compareAndSet(false, true)) {
            how.run();
        }
    }
}
