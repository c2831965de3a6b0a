// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Applies admins' policies: excludes, describes or taints devices before they are published.
 *
 * <p>Flow: a file → a policy → the inventory that is published. Maintenance is one of them.
 */
@NullMarked
package io.dra4j.runtime.internal.policy;

import org.jspecify.annotations.NullMarked;
