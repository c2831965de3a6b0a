// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The parts of a node, such as its API server, its kubelet and its drivers: the last opened ends first, and all of them
 * end, even if one fails. Thread-safe: a part that is being opened is ended as well, and none is opened afterwards.
 */
public final class Opened implements AutoCloseable {

    private final Deque<Runnable> ends = new ArrayDeque<>(); // guarded by this
    private boolean closed; // guarded by this

    /**
     * Opens a part.
     *
     * @param end ends it
     * @throws IllegalStateException if all parts were ended
     */
    public synchronized <T> T open(Supplier<T> opening, Consumer<? super T> end) {
        if (closed) {
            throw new IllegalStateException("The node was closed");
        }
        T part = opening.get();
        onEnd(() -> end.accept(part));
        return part;
    }

    /** Returns what work returns, or ends something if it fails; a failure of that is suppressed. */
    public static <T> T orEnd(Runnable end, Supplier<T> work) {
        try (Opened failed = new Opened()) {
            failed.onEnd(end);
            T result = work.get();
            failed.ends.clear();
            return result;
        }
    }

    /** Makes a change, and returns what undoes it once: when that is closed, at the end, or immediately if it fails. */
    public Opened change(Runnable change, Runnable undo) {
        Opened made = new Opened();
        made.onEnd(undo);
        return open(
                () -> orEnd(made::close, () -> {
                    change.run();
                    return made;
                }),
                Opened::close);
    }

    /** Adds what ends a part, or reverts a change; runs it now if all parts were ended. */
    public void onEnd(Runnable end) {
        synchronized (this) {
            if (!closed) {
                ends.push(end);
                return;
            }
        }
        end.run();
    }

    /** Returns whether all parts were ended, or are being ended. */
    public synchronized boolean isClosed() {
        return closed;
    }

    /** Ends all parts, and returns the failures; an error is thrown when all have ended. Idempotent. */
    public synchronized List<RuntimeException> end() {
        closed = true;
        List<RuntimeException> failures = new ArrayList<>();
        try {
            while (!ends.isEmpty()) {
                try {
                    ends.pop().run();
                } catch (RuntimeException e) {
                    failures.add(e);
                }
            }
        } finally {
            if (!ends.isEmpty()) { // an error ended the loop
                end();
            }
        }
        return failures;
    }

    /** Ends all parts, and throws the first failure. */
    @Override
    public void close() {
        List<RuntimeException> failures = end();
        if (!failures.isEmpty()) {
            RuntimeException first = failures.get(0);
            failures.subList(1, failures.size()).forEach(first::addSuppressed);
            throw first;
        }
    }
}
