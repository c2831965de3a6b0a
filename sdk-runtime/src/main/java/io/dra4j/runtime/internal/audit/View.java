// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.NotCheckedException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One view of a node's claims, or the reason why it can't be read.
 *
 * @param <T> what is viewed
 */
final class View<T> {

    private final @Nullable T value;
    private final String reason;

    private View(@Nullable T value, String reason) {
        this.value = value;
        this.reason = reason;
    }

    static <T> View<T> of(T value) {
        return new View<>(value, "");
    }

    static <T> View<T> unread(String reason) {
        return new View<>(null, reason);
    }

    /** Reads a view; the message of what the reading throws is the reason. */
    static <T> View<T> read(Supplier<T> reading) {
        try {
            return of(reading.get());
        } catch (NotCheckedException | DraException | UnsupportedOperationException e) {
            return unread(String.valueOf(e.getMessage()));
        }
    }

    boolean isRead() {
        return value != null;
    }

    /**
     * Returns what is viewed.
     *
     * @throws NotCheckedException if it could not be read
     */
    T get() {
        if (value == null) {
            throw new NotCheckedException(reason);
        }
        return value;
    }

    T orElse(T otherwise) {
        return value == null ? otherwise : value;
    }
}
