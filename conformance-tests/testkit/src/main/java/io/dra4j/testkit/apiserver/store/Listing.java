// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The result of a list, and its revision.
 *
 * @param continuation the token that asks for the rest; empty when this is all
 * @param remaining how many objects the rest has; 0 when it is not counted
 */
public record Listing(long revision, List<StoredObject> objects, String continuation, int remaining) {
    public Listing {
        objects = List.copyOf(objects);
    }

    public static Listing whole(long revision, List<StoredObject> objects) {
        return new Listing(revision, objects, "", 0);
    }

    /** The list with its objects in another form. */
    public Listing mapped(UnaryOperator<StoredObject> form) {
        return new Listing(revision, objects.stream().map(form).toList(), continuation, remaining);
    }

    public ObjectNode metadata() {
        ObjectNode metadata = JsonTrees.object().put("resourceVersion", Long.toString(revision));
        if (!continuation.isEmpty()) {
            metadata.put("continue", continuation);
        }
        return remaining == 0 ? metadata : metadata.put("remainingItemCount", remaining);
    }
}
