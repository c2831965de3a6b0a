// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.io.Closeable;

/**
 * One run of the bare driver, from its start to its end: a process of its own, or a part of this
 * JVM that ends as suddenly as one ({@link HostedLife}).
 *
 * <p>Threads belong to the life of the thread that has made them.
 */
abstract class Life {

    private static final Life PROCESS = new ProcessLife();

    static final InheritableThreadLocal<Life> CURRENT = new InheritableThreadLocal<>() {
        @Override
        protected Life initialValue() {
            return PROCESS;
        }
    };

    /** It is over; thrown to end what still runs, so it is never caught. */
    static final class Over extends Error {

        private static final long serialVersionUID = 1L;

        Over() {
            super("the driver has ended", null, false, false);
        }
    }

    /** That of the current thread. */
    static Life current() {
        return CURRENT.get();
    }

    /** Returns a number that no other has. */
    abstract long number();

    /** The number of threads for the sockets of all drivers in this JVM. */
    abstract int socketThreads();

    /** Writes a line of the driver's output. */
    abstract void log(String line);

    /** Ends it at once, as {@link Runtime#halt} does. */
    abstract void end(int status);

    /** Ends the thread if this is over: nothing that can be seen from outside comes after that. */
    abstract void check();

    /** Has something closed at the end, as the kernel does it for a process. */
    abstract void closesAtEnd(Closeable resource);

    /** Makes a thread that ends with it. */
    abstract Thread thread(Runnable work);

    private static final class ProcessLife extends Life {
        @Override
        long number() {
            return ProcessHandle.current().pid();
        }

        @Override
        int socketThreads() {
            return 1;
        }

        @Override
        void log(String line) {
            System.err.println(line);
        }

        @Override
        void end(int status) {
            Runtime.getRuntime().halt(status);
        }

        @Override
        void check() {}

        @Override
        void closesAtEnd(Closeable resource) {}

        @Override
        Thread thread(Runnable work) {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        }
    }
}
