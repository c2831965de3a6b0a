// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of Kubernetes for the objects of {@code resource.k8s.io}, by release and feature gate.
 *
 * <p>Flow: an object as JSON → the rules of its kind → {@code FieldErrors}. Nothing here changes an object, except for
 * the defaults of claims.
 */
@NullMarked
package io.dra4j.rules;

import org.jspecify.annotations.NullMarked;
