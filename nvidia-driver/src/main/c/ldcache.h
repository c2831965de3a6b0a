// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_LDCACHE_H
#define DRA4J_LDCACHE_H

/*
 * Creates the links with the libraries' names, and the cache in which the dynamic loader finds the folders.
 *
 * ldconfig: the path of that program on the node; NULL for the default ones.
 */
void update_ldcache(int root, const char *ldconfig, char *const *folders);

#endif
