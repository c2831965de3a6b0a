// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waiting, where waiting is what a fault or a schedule consists of. */
final class Pauses {

    private Pauses() {}

    static void millis(long duration) {
        try {
            if (new CountDownLatch(1).await(duration, TimeUnit.MILLISECONDS)) {
                throw new AssertionError("no thread counts it down");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Life.current().check();
        }
    }

    static void forEver() {
        millis(Long.MAX_VALUE);
    }

    static void later(long millis, Runnable work) {
        daemon("later", () -> {
            millis(millis);
            work.run();
        });
    }

    static void daemon(String name, Runnable work) {
        Thread thread = Life.current().thread(work);
        thread.setName(name);
        thread.start();
    }
}
