// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The certainty of a check that passed. */
public enum Observability {
    /** The check sees every violation of the kind that it provokes. */
    @JsonEnumDefaultValue
    DETERMINISTIC,
    /** The check depends on timing; after a pass, none of the rounds found a violation. */
    STOCHASTIC,
    /** The requirement is not checked, and the catalogue has the reason. */
    UNTESTED;

    /** The word that the catalogue writes. */
    @JsonValue
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
