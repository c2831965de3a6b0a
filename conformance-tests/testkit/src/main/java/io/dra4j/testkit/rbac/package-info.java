// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The rights of a driver's ServiceAccount, by the RBAC and the admission policies that its vendor ships.
 *
 * <p>Flow: manifests → grants of one ServiceAccount; a request of the driver at the proxy → {@code
 * ApiAction} → allowed, or a {@code Refusal} with the rule that is missing.
 */
@NullMarked
package io.dra4j.testkit.rbac;

import org.jspecify.annotations.NullMarked;
