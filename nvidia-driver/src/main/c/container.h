// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_CONTAINER_H
#define DRA4J_CONTAINER_H

/* Opens the root of the container whose state the runtime writes to standard input. */
int open_container(void);

/*
 * Opens a path as a process in the container would: absolute links and .. stay below the root, and links of procfs,
 * which lead out of it, are refused. Returns -1 and sets errno if it can't be opened.
 */
int open_in(int root, const char *path, int flags, int mode);

/* Requires an absolute path without empty parts, . or .. */
void require_plain(const char *path);

/* Opens a directory in the container, creating missing parts; returns -1 if the file system is read-only. */
int open_directory(int root, const char *path);

#endif
