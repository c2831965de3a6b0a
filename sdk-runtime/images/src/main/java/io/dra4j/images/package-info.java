// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the container images of the programs as OCI archives.
 *
 * <p>Flow: a program's jars, a JDK, Debian packages → here → an archive for a registry or a node.
 */
@NullMarked
package io.dra4j.images;

import org.jspecify.annotations.NullMarked;
