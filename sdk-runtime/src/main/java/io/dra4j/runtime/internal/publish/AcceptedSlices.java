// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * The rule book with a memory of the slices that it has nothing against: when a pool changes, most
 * of its devices stay as they are. Used on the loop's thread alone.
 */
final class AcceptedSlices implements BiFunction<Content, FeatureGates, List<FieldError>> {

    /** A pool of a thousand devices has some thousands, one for each device and release. */
    private static final int MOST = 20_000;

    private final BiFunction<Content, FeatureGates, List<FieldError>> book;
    private final Set<Accepted> known = new HashSet<>();

    /** Gates are equal if they are the same. */
    private record Accepted(Content content, FeatureGates gates) {}

    AcceptedSlices(BiFunction<Content, FeatureGates, List<FieldError>> book) {
        this.book = book;
    }

    @Override
    public List<FieldError> apply(Content content, FeatureGates gates) {
        Accepted key = new Accepted(content, gates);
        if (known.contains(key)) {
            return List.of();
        }
        List<FieldError> errors = book.apply(content, gates);
        if (errors.isEmpty()) {
            if (known.size() == MOST) {
                known.clear();
            }
            known.add(key);
        }
        return errors;
    }
}
