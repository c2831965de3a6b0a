// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Validates CDI specs and the names in them, as the libraries of container runtimes do.
 *
 * <p>Flow: a spec that the test context has read, or an id of a response → {@link
 * io.dra4j.testkit.cdi.CdiCheck} → the problems with it, for a rule's message.
 */
@NullMarked
package io.dra4j.testkit.cdi;

import org.jspecify.annotations.NullMarked;
