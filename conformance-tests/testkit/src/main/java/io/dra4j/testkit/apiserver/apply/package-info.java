// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Patches and server-side apply: the merge of a change into an object, and the fields' owners.
 *
 * <p>Flow: patch or applied object → merged object → managed fields.
 */
@NullMarked
package io.dra4j.testkit.apiserver.apply;

import org.jspecify.annotations.NullMarked;
