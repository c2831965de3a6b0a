// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import java.util.Optional;

/** The objects of a kind that a request selects; the namespace is empty for all of them, or none. */
public record ObjectSelection(String namespace, FieldSelector fields, LabelSelector labels) {
    public static final ObjectSelection ALL = new ObjectSelection("", FieldSelector.ALL, LabelSelector.ALL);

    /** Returns whether it selects by neither fields nor labels. */
    public boolean hasNoConditions() {
        return fields.terms().isEmpty() && labels.requirements().isEmpty();
    }

    boolean matches(StoredObject object) {
        return (namespace.isEmpty() || namespace.equals(object.key().namespace()))
                && fields.matches(object)
                && labels.matches(object);
    }

    /**
     * A change as this selection sees it: an object that starts matching is ADDED, one that stops
     * matching is DELETED, one that never matched is not seen.
     */
    public Optional<WatchEvent> view(CommittedWrite change) {
        boolean matched = change.before() != null && matches(change.before());
        boolean matches = change.after() != null && matches(change.after());
        if (matches) {
            return Optional.of(new WatchEvent(matched ? "MODIFIED" : "ADDED", change.after()));
        }
        return matched
                ? Optional.of(new WatchEvent("DELETED", change.before().atRevision(change.revision())))
                : Optional.empty();
    }
}
