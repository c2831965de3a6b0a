// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Real threads: virtual ones from JDK 24 on, which hand over to one another a hundred times faster, by one carrier
 * ({@code -Djdk.virtualThreadScheduler.parallelism=1}).
 */
final class Carriers {

    private static final boolean VIRTUAL = Runtime.version().feature() >= 24;
    private static final MethodHandle START = VIRTUAL ? virtual() : platform();

    private Carriers() {}

    static Thread start(Runnable code) {
        try {
            return (Thread) START.invokeExact(code);
        } catch (Throwable e) {
            throw new LinkageError("a thread can't be started", e);
        }
    }

    private static MethodHandle virtual() {
        return find(Thread.class, "startVirtualThread");
    }

    private static MethodHandle platform() {
        return find(Carriers.class, "startPlatformThread");
    }

    private static MethodHandle find(Class<?> owner, String name) {
        try {
            return MethodHandles.lookup().findStatic(owner, name, MethodType.methodType(Thread.class, Runnable.class));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    @SuppressWarnings("unused") // by its name
    private static Thread startPlatformThread(Runnable code) {
        Thread thread = new Thread(null, code, "strand", 512 * 1024);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
