// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_MESSAGE_H
#define DRA4J_MESSAGE_H

#include <stdnoreturn.h>

/* Prints why the container can't be prepared, and exits with status 1, so that the runtime does not start it. */
__attribute__((format(printf, 1, 2))) noreturn void fail(const char *form, ...);

__attribute__((format(printf, 1, 2))) void warn(const char *form, ...);

#endif
