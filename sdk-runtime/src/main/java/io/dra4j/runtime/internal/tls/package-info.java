// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Presents a certificate from PEM files, always the newest.
 *
 * <p>Flow: files of a secret → here → the webhook's server.
 */
@NullMarked
package io.dra4j.runtime.internal.tls;

import org.jspecify.annotations.NullMarked;
