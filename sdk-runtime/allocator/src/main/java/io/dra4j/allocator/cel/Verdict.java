// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

/**
 * The problems of an expression; empty where there is none.
 *
 * @param selector its problem as a selector
 * @param attribute its problem as a derived attribute
 * @param costly whether it exceeds the limit of costs
 */
record Verdict(String selector, String attribute, boolean costly) {}
