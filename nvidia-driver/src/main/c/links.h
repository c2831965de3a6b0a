// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_LINKS_H
#define DRA4J_LINKS_H

/* Creates the links, each given as "target::path". */
void create_symlinks(int root, char *const *links);

#endif
