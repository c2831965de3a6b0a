// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import java.time.Duration;

/**
 * The size of a run of many nodes.
 *
 * @param nodes how many drivers there are; at least two, because the others are measured against the first
 * @param devices how many devices each has
 * @param idle how long they are watched while nothing happens
 */
public record NodesPlan(int nodes, int devices, Duration idle) {}
