// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads text written by people strictly, so that no mistake goes unnoticed.
 *
 * <p>Flow: the text of a configuration or a policy → here → the values of its reader, who words the
 * errors. It depends on no other package of the runtime.
 */
@NullMarked
package io.dra4j.runtime.internal.strict;

import org.jspecify.annotations.NullMarked;
