// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A requirement that a mutant violates, or that a conforming variant is rightly warned of; and a
 * part of the message, because another reason proves nothing.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Violation.All.class)
@interface Violation {

    /** The requirement's id, a colon, a space and the part of the message. */
    String value();

    /** Several violations of one driver. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface All {
        Violation[] value();
    }
}
