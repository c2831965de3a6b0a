// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** A check of the objects of some kinds. */
interface Rule {

    /** Returns whether objects of a kind are checked. */
    boolean isFor(String group, String version, String kind);

    /** Returns the reasons to refuse an object; none if it may be stored. */
    List<Problem> problems(String kind, JsonNode object);

    /** Returns the kinds, for messages. */
    String kinds();
}
