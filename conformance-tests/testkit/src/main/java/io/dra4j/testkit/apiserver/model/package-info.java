// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The vocabulary of the embedded API server: releases and feature gates, kinds, JSON trees and failures.
 *
 * <p>Flow: a release → its kinds and gates → all other packages of the server.
 */
@NullMarked
package io.dra4j.testkit.apiserver.model;

import org.jspecify.annotations.NullMarked;
