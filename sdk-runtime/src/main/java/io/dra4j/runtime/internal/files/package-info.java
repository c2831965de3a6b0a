// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Names the files of the driver's directory, and notices files that others replace while this process runs.
 *
 * <p>Flow: the kubelet or an admin writes a file → its stamp changes → it is read again.
 */
@NullMarked
package io.dra4j.runtime.internal.files;

import org.jspecify.annotations.NullMarked;
