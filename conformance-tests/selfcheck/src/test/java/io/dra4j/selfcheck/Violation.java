// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A requirement that does not pass, and a part of the message: another reason proves nothing. */
@Retention(RetentionPolicy.RUNTIME)
@Target({})
@interface Violation {

    String requirement();

    String message();
}
