// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import java.time.Duration;

/**
 * The numbers of repetitions of a run.
 *
 * @param starts how often a start and a repair of deleted slices are measured; at least once
 * @param idle how long after its start the memory of the idle driver is read
 * @param firstCalls how many of the first calls are measured separately
 * @param rounds how often each call is measured after them; at least once
 */
public record LoadPlan(int starts, Duration idle, int firstCalls, int rounds) {}
