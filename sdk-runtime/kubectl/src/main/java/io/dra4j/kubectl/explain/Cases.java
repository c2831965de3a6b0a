// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** A function on a sealed type, with a case for each of its classes. */
final class Cases<T, R> {
    private final Class<T> type;
    private final Map<Class<?>, Function<T, R>> functions = new HashMap<>();

    Cases(Class<T> type) {
        this.type = type;
    }

    <C extends T> Cases<T, R> when(Class<C> kind, Function<C, R> function) {
        functions.put(kind, one -> function.apply(kind.cast(one)));
        return this;
    }

    /**
     * Returns the function.
     *
     * @throws IllegalStateException if a class of the type has no case
     */
    Function<T, R> complete() {
        for (Class<?> kind : type.getPermittedSubclasses()) {
            if (!functions.containsKey(kind)) {
                throw new IllegalStateException("No case for " + kind.getName());
            }
        }
        return one -> requireNonNull(functions.get(one.getClass())).apply(one);
    }
}
