// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

/**
 * A fault that is put into a driver on purpose, to see that the suite finds it.
 *
 * @param id for example {@code M-17}
 * @param fault what the driver does wrong
 */
public record Mutant(String id, String fault) {}
