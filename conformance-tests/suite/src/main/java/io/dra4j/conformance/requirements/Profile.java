// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

/**
 * A set of requirements that a driver claims as a whole.
 *
 * @param name for example {@code node-core}
 * @param core whether every driver is held to it
 * @param title what it is about, in a few words
 */
public record Profile(String name, boolean core, String title) {}
