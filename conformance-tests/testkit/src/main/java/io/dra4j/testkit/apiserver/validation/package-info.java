// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of Kubernetes for each kind: schema, defaults, gated fields and validation.
 *
 * <p>Flow: {@code registry} → {@code Strategy} of the kind → its rules → {@code FieldErrors}.
 */
@NullMarked
package io.dra4j.testkit.apiserver.validation;

import org.jspecify.annotations.NullMarked;
