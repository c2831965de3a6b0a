// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRA4J_JSON_H
#define DRA4J_JSON_H

#include <stddef.h>

enum json_result { JSON_FOUND, JSON_ABSENT, JSON_MALFORMED };

/*
 * Copies one string of a JSON text, which is checked as a whole.
 *
 * keys: the names of the object members that lead to it, terminated by NULL.
 * JSON_ABSENT: the member is missing, is not a string, or does not fit into size bytes with its terminator.
 * JSON_MALFORMED: the text is not JSON, has a name twice on the path, or has a NUL in the string.
 */
enum json_result json_string(const char *text, size_t length, const char *const *keys, char *out, size_t size);

#endif
