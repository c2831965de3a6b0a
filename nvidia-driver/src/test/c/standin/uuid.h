/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRA4J_UUID_H
#define DRA4J_UUID_H

#include <stddef.h>

/* Writes "MIG-" and the UUID of version 5 of a name of at most 119 characters: the same name has the same UUID. */
void mig_uuid(char *to, size_t size, const char *name);

#endif
