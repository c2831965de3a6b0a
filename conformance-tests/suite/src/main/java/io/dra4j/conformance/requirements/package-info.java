// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The catalogue of requirements: what a DRA driver has to do, as data.
 *
 * <p>Flow: {@code requirements.yaml} → here → the checks that cite its ids, the engine that orders
 * them, the reports and the commands {@code list} and {@code explain}.
 */
@NullMarked
package io.dra4j.conformance.requirements;

import org.jspecify.annotations.NullMarked;
