// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_HOOK_H
#define DRA4J_HOOK_H

#include <stdnoreturn.h>

/* Prints why the container can't be prepared, and ends with status 1: the runtime does not start it. */
__attribute__((format(printf, 1, 2))) noreturn void fail(const char *form, ...);

__attribute__((format(printf, 1, 2))) void warn(const char *form, ...);

/* Opens the root of the container whose state the runtime writes to standard input. */
int open_container(void);

/*
 * Opens a path as a process in the container would: absolute links and .. stay below the root, and links of procfs,
 * which lead out of it, are refused. Returns -1, with errno, if it can't be opened.
 */
int open_in(int root, const char *path, int flags, int mode);

/* Requires an absolute path without empty parts, . and .. */
void require_plain(const char *path);

/* Opens a directory in the container, and makes what is missing of it; returns -1 if that is read-only. */
int open_directory(int root, const char *path);

/* Makes the links, each "target::path". */
void create_symlinks(int root, char *const *links);

/*
 * Makes the links of the libraries' own names, and the cache in which the dynamic loader finds the folders.
 *
 * ldconfig: the path of that program on the node; NULL for the usual ones.
 */
void update_ldcache(int root, const char *ldconfig, char *const *folders);

#endif
