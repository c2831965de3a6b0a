// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The one thread that touches a journal's files: nobody interrupts it, and callers wait for it.
 *
 * <p>What is handed over while it works is done together in its next turn. It survives whatever a
 * turn throws, and tells it to those who wait for that turn. Thread-safe.
 */
final class JournalThread {

    private final Work work;
    private List<Request> requests = new ArrayList<>(); // guarded by this
    private boolean isClosed; // guarded by this
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private JournalThread(Work work) {
        this.work = work;
    }

    /** What the thread does. */
    interface Work {

        /** Writes what was handed over; without writes, it looks at what others wrote. */
        void turn(List<Write> writes) throws IOException;

        /** Is the last that is done. */
        void end();
    }

    private record Request(List<Write> writes, CompletableFuture<Void> done) {

        void fail(Throwable cause) {
            writes.forEach(write -> write.fail(cause));
            done.completeExceptionally(cause);
        }
    }

    static JournalThread start(Work work) {
        JournalThread journal = new JournalThread(work);
        Thread thread = new Thread(journal::run, "dra4j-journal");
        thread.setDaemon(true);
        thread.start();
        return journal;
    }

    /**
     * Hands over writes that are to be done in one turn.
     *
     * @return completed after that turn; of the single writes, each says how it went
     */
    CompletableFuture<Void> submit(List<Write> together) {
        Request request = new Request(together, new CompletableFuture<>());
        synchronized (this) {
            if (!isClosed) {
                requests.add(request);
                notifyAll();
                return request.done;
            }
        }
        request.fail(new DraException("The journal is closed: the driver has stopped"));
        return request.done;
    }

    /** Waits for what was handed over; nothing more is taken. */
    void close() {
        synchronized (this) {
            isClosed = true;
            notifyAll();
        }
        ended.join();
    }

    private void run() {
        List<Request> turn = next();
        while (!turn.isEmpty()) {
            try {
                work.turn(turn.stream().flatMap(request -> request.writes.stream()).toList());
                turn.forEach(request -> request.done.complete(null));
            } catch (IOException | RuntimeException | Error e) { // who waits must hear of it
                turn.forEach(request -> request.fail(e));
            }
            turn = next();
        }
        try {
            work.end();
        } finally {
            ended.complete(null);
        }
    }

    /** Waits for requests; none are left once it is closed. */
    private synchronized List<Request> next() {
        while (requests.isEmpty() && !isClosed) {
            try {
                wait();
            } catch (InterruptedException e) {
                // nobody has a reason to; the flag would close the files, and is gone now
            }
        }
        List<Request> all = requests;
        requests = new ArrayList<>();
        return all;
    }
}
