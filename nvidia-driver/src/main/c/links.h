// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_LINKS_H
#define DRA4J_LINKS_H

/* Makes the links, each "target::path". */
void create_symlinks(int root, char *const *links);

#endif
