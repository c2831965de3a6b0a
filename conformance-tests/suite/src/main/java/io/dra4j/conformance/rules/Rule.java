// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method without parameters that checks one requirement of the catalogue.
 *
 * <p>It returns if the requirement holds, throws {@link io.dra4j.conformance.context.Violation} if it does not, {@link
 * io.dra4j.conformance.context.NotApplicable} if the driver does not have what it is about, {@link
 * io.dra4j.conformance.context.Untested} if this run cannot check it, and {@link io.dra4j.conformance.context.Blocked}
 * if the driver fails another requirement that it needs; anything else that it throws is an error of the suite. Claims
 * that it made through the test context, and faults, are cleared away afterwards.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Rule {

    String value();

    /** True if it is checked even if the driver runs but the kubelet does not register it. */
    boolean unregistered() default false;
}
