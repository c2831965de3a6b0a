// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Finds what the API server would refuse in a pool, before any of it is sent, and what it accepts but can never work.
 *
 * <p>What a server refuses is decided only by {@code io.dra4j.rules}. The rules of this package
 * are only for what a server accepts, or never sees:
 *
 * <ul>
 *   <li>what can't be written as a slice: a raw field that is not JSON or has its own method, or a placement that is
 *       not for pools or devices ({@code WrittenForm});
 *   <li>amounts that a server would round, and negative ones of a counter or in a request policy ({@code AmountRules});
 *       times and texts that it would store differently ({@code DeviceRules}): the slice would never equal what the
 *       driver wants;
 *   <li>a node selector that matches no node ({@code SelectorRules});
 *   <li>what concerns the whole pool: unique names of devices and counter sets, and that the counters that devices
 *       consume exist, and are sufficient ({@code CounterRules}, {@code PoolRules}).
 * </ul>
 *
 * <p>A pool is checked against the newest release, which has all fields, before anything is known of the server, so
 * that it is not published here and refused there; and then, without what the server leaves out, against the server's
 * own release and gates.
 *
 * <p>Flow: the provider's inventory → here → internal.publish.
 */
@NullMarked
package io.dra4j.runtime.internal.validate;

import org.jspecify.annotations.NullMarked;
