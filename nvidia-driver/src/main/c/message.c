// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const char *form, va_list values) {
    fputs("nvidia-cdi-hook: ", stderr);
    vfprintf(stderr, form, values);
    fputc('\n', stderr);
}

void warn(const char *form, ...) {
    va_list values;
    va_start(values, form);
    print(form, values);
    va_end(values);
}

void fail(const char *form, ...) {
    va_list values;
    va_start(values, form);
    print(form, values);
    va_end(values);
    exit(1);
}
