// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one kind for writes.
 *
 * <p>The registry has already applied the rules for all kinds (metadata, keeping spec and status apart). All methods
 * are called under the store's lock.
 */
public interface Strategy {
    /** The part of the object that a request may change. */
    enum Part {
        MAIN,
        STATUS
    }

    /** Keeps what is sent and only validates metadata: for kinds that drivers only read or use for events. */
    Strategy PLAIN = new Strategy() {};

    /** Drops fields of gates that are off, sets defaults, brings values into canonical form. */
    default void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {}

    /** Collects what the real server would refuse. */
    default void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {}

    /** Returns the warnings for the client of a write that is valid. */
    default List<String> warnings(ObjectNode next) {
        return List.of();
    }
}
