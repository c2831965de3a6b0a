// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Real threads: virtual ones from JDK 24 on, which hand over to one another a hundred times faster, on one carrier
 * ({@code -Djdk.virtualThreadScheduler.parallelism=1}). Before JDK 24, platform threads are reused.
 */
final class Carriers {

    private static final Executor THREADS = Runtime.version().feature() < 24 ? platform() : virtual();

    private Carriers() {}

    static void start(Runnable code) {
        THREADS.execute(code);
    }

    private static Executor virtual() {
        MethodHandle start;
        try {
            MethodType type = MethodType.methodType(Thread.class, Runnable.class);
            start = MethodHandles.lookup().findStatic(Thread.class, "startVirtualThread", type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no virtual threads", e);
        }
        return MethodHandleProxies.asInterfaceInstance(Executor.class, start);
    }

    private static Executor platform() {
        return Executors.newCachedThreadPool(code -> {
            Thread thread = new Thread(null, code, "strand", 512 * 1024);
            thread.setDaemon(true);
            return thread;
        });
    }
}
