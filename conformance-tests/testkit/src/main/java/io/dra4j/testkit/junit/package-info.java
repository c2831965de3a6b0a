// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * JUnit 5: a node with one driver for the tests of a class.
 *
 * <p>Flow: {@link io.dra4j.testkit.junit.DraNode} → {@link io.dra4j.testkit.apiserver}, {@link
 * io.dra4j.testkit.kubelet} and {@link io.dra4j.testkit.driver} → parameters of test methods.
 */
@NullMarked
package io.dra4j.testkit.junit;

import org.jspecify.annotations.NullMarked;
