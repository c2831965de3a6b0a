// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Finds what is wrong on the node of a driver: the checks of its command {@code doctor}.
 *
 * <p>Flow: the driver's options → files of the node, requests with the driver's rights → findings.
 */
@NullMarked
package io.dra4j.tools.doctor;

import org.jspecify.annotations.NullMarked;
